// Reeve beside Argo CD and Flux: kubectl does what these tools do, with their accounts and field managers.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { neededHelm } from '../chart/helm-versions.ts';
import { helmMajors } from '../cluster/helm/helm.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { blocksOf } from '../samples/markdown.ts';
import { kubectl, mustKubectl, type KubectlOptions } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { allowed, refused, type Command } from './support/attempt.ts';
import { inTime } from './support/in-time.ts';
import {
  configMap,
  namespaceObject,
  policy,
  roleBinding,
  share,
  type WrittenObject,
} from './support/objects.ts';
import { person } from './support/people.ts';
import { policiesInForce } from './support/policies.ts';
import { secret } from './support/secrets.ts';
import { Stage } from './support/stage.ts';
import { file } from './support/ways-to-write.ts';

const prefix = 'gitops-';
const page = readFileSync('docs/operate/gitops.md', 'utf8');
const shown = blocksOf(page)
  .filter(({ language }) => language === 'text')
  .map(({ text }) => text.trim().replaceAll(/\s+/g, ' '));

const fluxUser = 'system:serviceaccount:flux-system:kustomize-controller';
const argoUser = 'system:serviceaccount:argocd:argocd-application-controller';
const serverSide = ['--server-side', '--force-conflicts'];

/** How each tool writes an object of Git. The page links to the documents of the tools. */
const tools = [
  {
    tool: 'Flux',
    key: 'flux',
    user: fluxUser,
    flags: [...serverSide, '--field-manager=kustomize-controller'],
  },
  { tool: 'Argo CD', key: 'argo', user: argoUser, flags: ['--field-manager=argocd-controller'] },
  {
    tool: 'Argo CD with ServerSideApply=true',
    key: 'argo-ssa',
    user: argoUser,
    flags: [...serverSide, '--field-manager=argocd-controller'],
  },
] as const;

const policies = [
  policy('gitops-teams', {
    match: { names: [`${prefix}*`], excludeNames: [`${prefix}canary`] },
    contact: 'platform@example.com',
    namespaces: { required: { labels: { team: {} } }, defaults: { labels: { size: 'small' } } },
    contents: {
      roleBindings: [roleBinding('viewers', 'staff')],
      resources: [configMap('settings', { a: 'b' })],
    },
  }),
  // Deletes nothing without a confirmation.
  policy('gitops-held', {
    match: { names: [`${prefix}argo*`] },
    contents: { resources: [configMap('held', {})] },
    maxDeletions: 0,
  }),
];

function inGit(name: string, namespace: string, data: Readonly<Record<string, string>>): WrittenObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

describeControllers('with GitOps', { timeout: 120_000 }, () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  let reeve: Reeve;

  const as = (user: string): KubectlOptions => person(cluster, user);
  const isReady = async (name: string): Promise<void> =>
    await inTime(() => stage.namespaceCondition(name)).toBe('True Synced');

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    for (const [index, user] of [fluxUser, argoUser].entries()) {
      const [namespace, name] = user.split(':').slice(2);
      const binding = ['create', 'clusterrolebinding', `${prefix}${index}`, '--clusterrole=cluster-admin'];
      await mustKubectl([...binding, `--serviceaccount=${namespace}:${name}`], cluster);
      await until(
        async () => (await kubectl(['get', 'nspol'], as(user))).code === 0,
        () => `${user} has its rights`,
      );
    }
    await stage.apply(...policies);
    await policiesInForce(prefix, stage.administrator);
  });
  afterAll(async () => {
    await stage.kubectl('delete', 'clusterrolebinding', `${prefix}0`, `${prefix}1`);
    await stage.kubectl('annotate', 'nspol', '--all', 'reeve.dev/confirm-deletions=9999', '--overwrite');
    await stage.cleanUp();
    await reeve.stop();
  });

  describe.each(tools)('$tool', ({ key, user, flags }) => {
    const name = `${prefix}${key}`;
    const sync = (object: WrittenObject): Command => file(['apply', ...flags], object);

    it('a GitOps tool cannot create a namespace without a required label, not even in a dry run, and the message says why', async () => {
      const said = await refused(sync(namespaceObject(`${name}-none`)), as(user));
      expect(said.replaceAll(`${name}-none`, 'shop').replaceAll(/\s+/g, ' ')).toBe(shown[0]);
    });

    it('a GitOps tool creates a namespace with the labels of Git, and a second sync changes nothing', async () => {
      const namespace = namespaceObject(name, { team: 'shop' });
      await allowed(sync(namespace), as(user));
      await isReady(name);
      const metadata = async (): Promise<unknown> =>
        (await stage.mustGet({ kind: 'Namespace', name })).metadata;
      expect(await metadata()).toMatchObject({ labels: { team: 'shop', size: 'small' } });
      // Reeve may write its condition in between once.
      await inTime(async () => {
        const before = await metadata();
        await allowed(sync(namespace), as(user));
        return isDeepStrictEqual(await metadata(), before);
      }).toBe(true);
      const { code, stdout } = await kubectl(['diff', ...flags, '-f', '-'], {
        ...as(user),
        input: JSON.stringify(namespace),
      });
      expect([code, stdout]).toEqual([0, '']);
    });

    it('a GitOps tool cannot change or delete what Reeve provides, when Git has the same object', async () => {
      const said = await refused(sync(inGit('settings', name, { a: 'c' })), as(user));
      expect(said).toContain('Reeve keeps ConfigMap settings for NamespacePolicy/gitops-teams');
      const prune = { args: ['delete', 'configmap', 'settings', '-n', name] };
      expect(await refused(prune, as(user))).toContain('Reeve keeps ConfigMap settings');
    });

    it('a GitOps tool keeps an object that it created first, and the policy reports a conflict', async () => {
      const second = `${name}-first`;
      // The policy does not want it yet, because the label is missing.
      const late = policy(`${name}-late`, {
        match: { names: [second], namespaceSelector: { matchLabels: { late: 'yes' } } },
        contents: { resources: [configMap('early', { from: 'policy' })] },
      });
      const early = inGit('early', second, { from: 'git' });
      await stage.apply(late);
      await allowed(sync(namespaceObject(second, { team: 'shop' })), as(user));
      await allowed(sync(early), as(user));
      await allowed(sync(namespaceObject(second, { team: 'shop', late: 'yes' })), as(user));
      await inTime(() => stage.condition({ kind: 'NamespacePolicy', name: `${name}-late` })).toBe(
        'False Conflicts',
      );
      expect(await allowed(sync(early), as(user))).toBe('');
    });
  });

  it('a copy has no label or annotation of Argo CD, Flux or the source', async () => {
    const name = `${prefix}source`;
    const labels = {
      'app.kubernetes.io/instance': 'secrets',
      'kustomize.toolkit.fluxcd.io/name': 'secrets',
      'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
    };
    const annotations = { 'argocd.argoproj.io/tracking-id': `secrets:/Secret:reeve-shared/${name}` };
    await stage.apply(
      secret({ name, labels, annotations }, { a: 'b' }),
      share(name, { source: { namespace: 'reeve-shared', name }, targets: { names: [`${prefix}argo`] } }),
    );
    await isReady(`${prefix}argo`);
    const copy = { kind: 'Secret', name, namespace: `${prefix}argo` } as const;
    await inTime(async () => (await stage.get(copy))?.metadata.labels).toEqual({
      'app.kubernetes.io/managed-by': 'reeve',
      'reeve.dev/secretshare': name,
    });
    const { metadata } = await stage.mustGet(copy);
    expect(Object.keys(metadata.annotations ?? {}).filter((each) => !each.startsWith('reeve.dev/'))).toEqual(
      [],
    );
  });

  it('a policy that Git no longer has is not pruned when that deletes more objects than it allows', async () => {
    const prune = { args: ['delete', 'nspol', 'gitops-held', '--wait=false'] };
    expect(await refused(prune, as(argoUser))).toContain('maxDeletions');
    await stage.kubectl('annotate', 'nspol/gitops-held', 'reeve.dev/confirm-deletions=9');
    await allowed({ ...prune, isReal: true }, as(argoUser));
  });

  it.each([
    { way: 'kubectl diff', flags: [] },
    { way: 'a server-side diff', flags: [...serverSide, '--field-manager=argocd-controller'] },
  ])(
    '$way shows no difference after Reeve has written its Leases and webhook configurations',
    async ({ flags }) => {
      const files = [
        '00-namespaces',
        '10-service-accounts',
        '24-webhook',
        '30-leases',
        '40-guard',
        '41-jail',
      ];
      const args = files.flatMap((each) => ['-f', `manifests/install/${each}.yaml`]);
      const lease = [
        'get',
        'lease',
        'reeve-reconciler',
        '-n=reeve-system',
        '-o=jsonpath={.spec.holderIdentity}',
      ];
      expect(await stage.kubectl(...lease)).not.toBe('');
      const { code, stdout } = await kubectl(
        ['diff', ...flags, ...args, '-f', 'manifests/crds'],
        as(argoUser),
      );
      expect([code, stdout]).toEqual([0, '']);
    },
  );

  it.each(helmMajors)(
    'helm install --create-namespace, as a HelmRelease does, sets no labels (Helm %i)',
    async (major) => {
      const helm = await neededHelm(major);
      const folder = await mkdtemp(join(tmpdir(), 'reeve-gitops-'));
      try {
        await writeFile(join(folder, 'Chart.yaml'), 'apiVersion: v2\nname: empty\nversion: 1.0.0\n');
        const install = ['install', 'app', folder, '--create-namespace', '--namespace', `${prefix}helm`];
        const { code, stderr } = await helm(install, cluster);
        expect(code).toBe(1);
        expect(stderr.replaceAll(`${prefix}helm`, 'shop').replaceAll(/\s+/g, ' ')).toContain(shown[0]);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
});
