// Releases of the chart with other names, with one Pod instead of two Deployments, and after a release that was uninstalled.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { neededHelm } from '../chart/helm-versions.ts';
import { idOf, renderChart } from '../checks/chart/rendered-chart.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { chartFolder, helmMajors, type Helm } from '../cluster/helm/helm.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { HelmRelease } from './support/helm-release.ts';

const first = { name: 'team-reeve', namespace: 'platform' };
const next = { name: 'reeve', namespace: 'reeve-system' };

describeControllers('releases of the chart', () => {
  describe.each(helmMajors)('with Helm %i', (major) => {
    let plane: ControlPlane;
    let helm: Helm;
    let chart: HelmRelease;
    let other: HelmRelease;

    beforeAll(async () => {
      helm = await neededHelm(major);
      plane = await startControlPlane({ audit: false });
      chart = new HelmRelease(helm, plane, first);
      other = new HelmRelease(helm, plane, next);
    });

    afterAll(() => plane.stop());

    /** Every object of the chart, by kind, namespace and name. */
    async function present(resources: readonly string[]): Promise<readonly string[]> {
      const selector = ['--selector=app.kubernetes.io/part-of=reeve', '--all-namespaces', '-o=json'];
      const listed = await mustKubectl(['get', resources.join(), ...selector], plane);
      return (JSON.parse(listed) as { readonly items: readonly JsonObject[] }).items.map(idOf).toSorted();
    }

    it('a release may have any name and namespace', async () => {
      const notes = await chart.install();
      expect(notes).toContain('helm test team-reeve --namespace platform');
      const place = ['get', 'deployment', 'reeve-webhook', '-n', first.namespace, '-o=jsonpath={..args}'];
      expect(await mustKubectl(place, plane)).toContain('"--namespace=platform"');
    });

    it('a second release is refused with the name of the first', async () => {
      await expect(other.install()).rejects.toThrow(
        'Reeve is installed already, as the release team-reeve in the namespace platform. A cluster has one Reeve',
      );
      expect((await kubectl(['get', 'deployment', '-n', next.namespace], plane)).stdout).toBe('');
    });

    it('a change to one Pod and back leaves exactly the objects that the chart renders', async () => {
      const versions = [{ ha: { enabled: false } }, { ha: { enabled: true } }];
      const rendered = await Promise.all(
        versions.map(async (values) => {
          const { documents } = await renderChart(helm, values, { namespace: first.namespace });
          const own = documents.map(({ object }) => object);
          return own.filter(({ kind }) => kind !== 'CustomResourceDefinition');
        }),
      );
      const resources = [...new Set(rendered.flat().map(({ kind }) => String(kind)))];
      for (const [index, values] of versions.entries()) {
        await chart.upgrade(values);
        expect(await present(resources)).toEqual((rendered[index] ?? []).map(idOf).toSorted());
      }
    });

    it('--take-ownership lets a release with another name take over what an uninstall kept', async () => {
      await chart.uninstall('--no-hooks');
      await expect(other.install()).rejects.toThrow('must equal "reeve": current value is "team-reeve"');
      await other.install({}, chartFolder, '--take-ownership');
      const owner = '-o=jsonpath={.metadata.annotations.meta\\.helm\\.sh/release-name}';
      for (const kept of ['crd/namespacepolicies.reeve.dev', 'namespace/reeve-shared'])
        expect(await mustKubectl(['get', kept, owner], plane)).toBe('reeve');
      await other.uninstall('--no-hooks');
    });

    it('--take-ownership lets a release take over an install without Helm', async () => {
      await mustKubectl(['apply', '-k', 'manifests'], plane);
      await expect(other.install()).rejects.toThrow('invalid ownership metadata');
      // Helm 4 applies on the server, where kubectl owns the fields that differ.
      const flags = ['--take-ownership', ...(major === 4 ? ['--force-conflicts'] : [])];
      await other.install({ logLevel: 'debug' }, chartFolder, ...flags);
      const args = ['get', 'deployment', 'reeve-webhook', '-n', next.namespace, '-o=jsonpath={..args}'];
      expect(await mustKubectl(args, plane)).toContain('--log-level=debug');
    });

    it('Helm 4 upgrades the release, whichever version of Helm installed it', async () => {
      await new HelmRelease(await neededHelm(4), plane, next).upgrade({ logLevel: 'warn' });
      const args = ['get', 'deployment', 'reeve-webhook', '-n', next.namespace, '-o=jsonpath={..args}'];
      expect(await mustKubectl(args, plane)).toContain('--log-level=warn');
    });
  });
});
