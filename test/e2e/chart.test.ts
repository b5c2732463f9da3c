// The chart on a real API server, with Helm 3 and Helm 4: install, upgrade, uninstall, and each set of values for real.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseYaml, stringifyYaml } from '../../src/base/yaml.ts';
import { neededHelm } from '../chart/helm-versions.ts';
import { valueSets } from '../chart/values-cases.ts';
import { renderChart } from '../checks/chart/rendered-chart.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { chartFolder, helmMajors } from '../cluster/helm/helm.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { copiedChart, HelmRelease, release, runJob } from './support/helm-release.ts';
import { installStandInKinds } from './support/stand-in-kinds.ts';

const policy = {
  name: 'team-namespaces',
  spec: { match: { names: ['team-*'] }, namespaces: { required: { labels: { team: {} } } } },
};
const kinds = [
  { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps' },
  { apiVersion: 'apps/v1', kind: 'Deployment', resource: 'deployments' },
];

describeControllers('the chart', () => {
  describe.each(helmMajors)('with Helm %i', (major) => {
    // Helm 3 cannot create policies with the first install, and the chart says so.
    const firstValues = major === 3 ? {} : { policies: [policy] };
    let plane: ControlPlane;
    let chart: HelmRelease;

    beforeAll(async () => {
      const helm = await neededHelm(major);
      plane = await startControlPlane({ audit: false });
      chart = new HelmRelease(helm, plane);
    });

    /** Kubernetes tries ever more seldom to empty a kind whose storage was not ready. A change makes it try at once. */
    const deleteKinds = async (): Promise<void> => {
      await mustKubectl(['delete', 'crd', '--all', '--wait=false'], plane);
      let tries = 0;
      const left = () => mustKubectl(['get', 'crd', '-o', 'name'], plane);
      const areGone = async (): Promise<boolean> => {
        tries += 1;
        await kubectl(['annotate', 'crd', '--all', '--overwrite', `tries=${tries}`], plane);
        return (await left()) === '';
      };
      await until(areGone, left);
    };

    afterAll(() => plane.stop());

    async function read(what: string, path: string): Promise<string> {
      return await mustKubectl(['get', ...what.split(' '), '-o', `jsonpath={${path}}`], plane);
    }

    async function exists(...what: readonly string[]): Promise<boolean> {
      return (await kubectl(['get', ...what], plane)).code === 0;
    }

    const inRelease = ['-n', release.namespace] as const;
    const jailed = (name: string): string => `.spec.variables[?(@.name=="${name}")].expression`;

    it('one command installs Reeve, its namespaces and a first policy, and prints what to do next', async () => {
      const notes = await chart.install(firstValues);
      expect(notes).toContain('kubectl rollout status');
      expect(notes).toContain('helm test reeve --namespace reeve-system');
      expect(await read(`deployment/reeve-webhook -n ${release.namespace}`, '.spec.replicas')).toBe('2');
      expect(await exists('namespace', 'reeve-shared')).toBe(true);
      if (major === 3) await chart.upgrade({ policies: [policy] });
      expect(await read('nspol/team-namespaces', '.spec.match.names[0]')).toBe('team-*');
    });

    it('an upgrade with other values changes the flag, the rights and the jail together, and no holder of a Lease', async () => {
      const hold = JSON.stringify({ spec: { holderIdentity: 'me' } });
      await mustKubectl(
        ['patch', 'lease', 'reeve-reconciler', ...inRelease, '--type=merge', '-p', hold],
        plane,
      );
      const changed = { ...policy, spec: { ...policy.spec, suspend: true } };
      const replicas = { webhook: { replicas: 3 }, bindableClusterRoles: ['view', 'auditor'] };
      const intentAdapters = ['pod-security', 'network'];
      await chart.upgrade({ policies: [changed], ...replicas, resourceKinds: kinds, intentAdapters });
      const webhook = `deployment/reeve-webhook -n ${release.namespace}`;
      expect(await read(webhook, '.spec.replicas')).toBe('3');
      for (const name of ['reeve-webhook', 'reeve-reconciler']) {
        const args = await read(`deployment/${name} -n ${release.namespace}`, '..args');
        expect(args).toContain('--resource-kind=apps/v1/Deployment');
        expect(args).not.toContain('ResourceQuota');
        expect(args).toContain(
          '--resource-kind=networking.k8s.io/v1/NetworkPolicy","--intent-adapter=pod-security"',
        );
        expect(args).not.toMatch(/kyverno|kubearmor/i);
      }
      const bindable = 'clusterrole/reeve-reconciler-bind';
      expect(await read(bindable, '.rules[0].resourceNames')).toBe('["view","auditor"]');
      expect(await read('clusterrole/reeve-reconciler-resources', '.rules[*].resources')).toBe(
        '["configmaps"] ["deployments"] ["networkpolicies"]',
      );
      const jail = 'validatingadmissionpolicy/reeve-jail';
      expect(await read(jail, jailed('bindableRoles'))).toBe('["view", "auditor"]');
      expect(await read(jail, jailed('providedResources'))).toBe(
        '["configmaps", "apps/deployments", "networking.k8s.io/networkpolicies"]',
      );
      expect(await read(`lease/reeve-reconciler -n ${release.namespace}`, '.spec.holderIdentity')).toBe('me');
      expect(await read('nspol/team-namespaces', '.spec.suspend')).toBe('true');
    });

    it('a rollback restores the flags, the rights and the jail together', async () => {
      await chart.rollback();
      const webhook = `deployment/reeve-webhook -n ${release.namespace}`;
      expect(await read(webhook, '..args')).toContain('--resource-kind=v1/ResourceQuota');
      expect(await read(webhook, '..args')).toContain('--intent-adapter=kubearmor');
      expect(await read('clusterrole/reeve-reconciler-bind', '.rules[0].resourceNames')).toBe(
        '["view","edit"]',
      );
      expect(await read('validatingadmissionpolicy/reeve-jail', jailed('bindableRoles'))).toBe(
        '["view", "edit"]',
      );
      expect(await exists('nspol', policy.name)).toBe(true);
    });

    it('an upgrade restores a jail that was changed by hand, with Helm 4 only by force', async () => {
      const jail = 'validatingadmissionpolicy/reeve-jail';
      const change = [{ op: 'replace', path: '/spec/variables/1/expression', value: '["cluster-admin"]' }];
      await mustKubectl(['patch', jail, '--type=json', '-p', JSON.stringify(change)], plane);
      const values = { policies: [policy] };
      if (major === 4) await expect(chart.upgrade(values)).rejects.toThrow('conflict with "kubectl-patch"');
      const force = major === 4 ? ['--force-conflicts'] : [];
      await chart.upgrade(values, chartFolder, ...force);
      expect(await read(jail, jailed('bindableRoles'))).toBe('["view", "edit"]');
    });

    it('an uninstall deletes the webhook configurations first, with an account that has no other rights', async () => {
      await createConfigurations();
      const [uninstalled, job] = await Promise.all([chart.uninstall(), runJob(plane, 'reeve-uninstall')]);
      expect(job).toMatchObject({ code: 0, stderr: '' });
      expect(job.rights).toEqual([
        'clusterroles.rbac.authorization.k8s.io [] [reeve-webhook] [get delete]',
        'mutatingwebhookconfigurations.admissionregistration.k8s.io [] [reeve] [get delete]',
        'validatingwebhookconfigurations.admissionregistration.k8s.io [] [reeve] [get delete]',
      ]);
      expect(job.stdout).toContain('deleted ClusterRole reeve-webhook');
      expect(uninstalled).toContain('release "reeve" uninstalled');
      expect(await exists('validatingwebhookconfiguration', 'reeve')).toBe(false);
      expect(await exists('mutatingwebhookconfiguration', 'reeve')).toBe(false);
      expect(await exists('clusterrole', 'reeve-uninstall')).toBe(false);
    });

    it('an uninstall keeps the kinds, the policies and the shared Secrets, and removes the guard and the accounts', async () => {
      expect(await exists('namespace', 'reeve-shared')).toBe(true);
      expect(await exists('nspol', policy.name)).toBe(true);
      for (const gone of [
        ['deployment', 'reeve-webhook', ...inRelease],
        ['serviceaccount', 'reeve-reconciler', ...inRelease],
        ['validatingadmissionpolicy', 'reeve-guard'],
        ['clusterrolebinding', 'reeve-reconciler'],
      ])
        expect([gone, await exists(...gone)]).toEqual([gone, false]);
    });

    it('an install after an uninstall takes over what was kept', async () => {
      await chart.install({ policies: [{ ...policy, spec: { ...policy.spec, suspend: true } }] });
      // Helm 3 does not change a custom object that it takes over: docs/operate/install.md says so.
      const suspended = major === 3 ? 'false' : 'true';
      expect(await read('nspol/team-namespaces', '.spec.suspend')).toBe(suspended);
      await chart.uninstall('--no-hooks');
      await mustKubectl(['delete', 'nspol', '--all'], plane);
      await deleteKinds();
    });

    it('an upgrade of the chart upgrades the kinds, and stored policies stay', async () => {
      await using old = await copiedChart();
      const file = join(old.folder, 'files/crds/reeve.dev_namespacepolicies.yaml');
      await writeFile(file, withoutSuspend(await readFile(file, 'utf8')));
      const added = ['securityintents', 'securityintentbindings', 'clustersecurityintentbindings'];
      for (const plural of added) await rm(join(old.folder, `files/crds/reeve.dev_${plural}.yaml`));
      await chart.install(firstValues, old.folder);
      await chart.upgrade({ policies: [policy] }, old.folder);
      const suspend = '.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.suspend.type';
      expect(await read('crd/namespacepolicies.reeve.dev', suspend)).toBe('');
      await chart.upgrade({ policies: [{ ...policy, spec: { ...policy.spec, suspend: true } }] });
      expect(await read('crd/namespacepolicies.reeve.dev', suspend)).toBe('boolean');
      for (const plural of added) expect(await exists('crd', `${plural}.reeve.dev`)).toBe(true);
      await until(
        async () => (await read('nspol/team-namespaces', '.spec.suspend')) === 'true',
        () => 'the API server serves the new field',
      );
      await chart.uninstall('--no-hooks');
    });

    /** Stands in for the webhook, which creates them. */
    async function createConfigurations(): Promise<void> {
      const { kubeconfig } = plane;
      const uid = await read('clusterrole/reeve-webhook', '.metadata.uid');
      const owner = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        name: 'reeve-webhook',
        uid,
      };
      const items = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => ({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind,
        metadata: { name: 'reeve', ownerReferences: [owner] },
      }));
      const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      await mustKubectl(['create', '-f', '-'], { kubeconfig, input });
    }
  });

  describe('what Helm renders', () => {
    let plane: ControlPlane;

    beforeAll(async () => {
      plane = await startControlPlane({ audit: false });
      await mustKubectl(['create', 'namespace', release.namespace], plane);
      for (const name of ['reeve-shared', 'sources', 'more-sources'])
        await mustKubectl(['create', 'namespace', name], plane);
      // A dry run keeps no account, and the API server refuses a Pod without its account.
      await mustKubectl(['create', 'serviceaccount', 'reeve-check', '-n', release.namespace], plane);
      await installStandInKinds(plane);
      await mustKubectl(['apply', '-f', 'manifests/crds'], plane);
    });

    afterAll(() => plane.stop());

    it.each(valueSets)('with %s, the API server accepts every field', async (_, values) => {
      const { kubeconfig } = plane;
      const { documents, hooks } = await renderChart(await neededHelm(4), values);
      const items = [...documents, ...hooks].map(({ object }) => object);
      const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      const apply = ['apply', '--server-side', '--force-conflicts', '--validate=strict', '-f', '-'];
      await mustKubectl([...apply, '--dry-run=server'], { kubeconfig, input });
      const said = await mustKubectl(apply, { kubeconfig, input });
      expect(said.trim().split('\n')).toHaveLength(items.length);
    });
  });
});

function withoutSuspend(crd: string): string {
  const [document] = parseYaml(crd).documents;
  if (document?.kind !== 'data') throw new Error('the definition cannot be read');
  const value = structuredClone(document.value) as {
    spec: {
      versions: {
        schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } };
      }[];
    };
  };
  delete value.spec.versions[0]?.schema.openAPIV3Schema.properties.spec.properties['suspend'];
  return stringifyYaml(value);
}
