// The guard does not block the controllers of Kubernetes: namespaces end, garbage is collected, status is written.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mustKubectl } from '../support/kubectl.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { apply, guardSays, isGone, makeTenantNamespace, refusal, startGuardScene } from './guard-scene.ts';
import type { GuardScene } from './guard-scene.ts';
import {
  guardedKinds,
  largeManifest,
  manifest,
  markedManifest,
  markLabel,
  owned,
} from './guarded-objects.ts';
import { emergency } from './support/people.ts';

const held = 'example.com/held';
const hold = JSON.stringify({ metadata: { finalizers: [held] } });
const release = JSON.stringify({ metadata: { finalizers: null } });

/** Most clusters give each controller an account, others have one user for all. The guard names none of them. */
const identities = [
  { name: 'accounts of their own', serviceAccountCredentials: true },
  { name: 'one user', serviceAccountCredentials: false },
] as const;

for (const { name, serviceAccountCredentials } of identities) {
  describeControllers(`the guard and controllers with ${name}`, { timeout: 120_000 }, () => {
    let scene: GuardScene;

    beforeAll(async () => {
      scene = await startGuardScene({ serviceAccountCredentials }, 'guarded');
    }, 180_000);

    afterAll(() => scene.plane.stop());

    it.concurrent('a namespace ends with everything in it', async () => {
      await makeTenantNamespace(scene, 'ending');
      for (const kind of guardedKinds) {
        await apply(scene.reeve, markedManifest(kind, { name: 'kept', namespace: 'ending' }));
        await apply(scene.tenant, manifest(kind, { name: 'own', namespace: 'ending' }));
      }
      await mustKubectl(['delete', 'namespace', 'ending', '--wait=false'], scene.administrator);
      expect(await isGone(scene, ['namespace', 'ending'])).toBe(true);
    });

    it.concurrent(
      'in a terminating namespace users with the right to delete may delete, and no user may change',
      async () => {
        await makeTenantNamespace(scene, 'held');
        // Without this finalizer, the rights of the tenant would be deleted among the first objects.
        const rights = ['patch', 'rolebinding', 'tenant', '-n', 'held', '--type=merge', '-p'];
        await mustKubectl([...rights, hold], scene.administrator);
        const own = { name: 'own', namespace: 'held', finalizers: [held] };
        await apply(scene.tenant, manifest('configmap', own));
        await apply(
          emergency(scene.plane),
          markedManifest('secret', { name: 'kept', namespace: 'held', finalizers: [held] }),
        );
        await mustKubectl(['delete', 'namespace', 'held', '--wait=false'], scene.administrator);
        const secret = ['secret', 'kept', '-n', 'held'];
        expect(await refusal(['label', ...secret, 'touched=yes'], scene.tenant)).toContain(guardSays);
        await mustKubectl(['delete', ...secret, '--wait=false'], scene.tenant);
        await mustKubectl(['patch', ...secret, '--type=merge', '-p', release], scene.tenant);
        expect(await isGone(scene, secret)).toBe(true);
        await mustKubectl(
          ['patch', 'configmap', 'own', '-n', 'held', '--type=merge', '-p', release],
          scene.tenant,
        );
        await mustKubectl([...rights, release], scene.administrator);
        expect(await isGone(scene, ['namespace', 'held'])).toBe(true);
      },
    );

    it.concurrent.each([
      { type: 'merge', patch: release },
      { type: 'strategic', patch: release },
      { type: 'json', patch: JSON.stringify([{ op: 'remove', path: '/metadata/finalizers' }]) },
    ])('the guard lets anybody take a finalizer away ($type patch)', async ({ type, patch }) => {
      const kept = ['configmap', `finalized-${type}`, '-n', 'guarded'];
      // Even Reeve sets no finalizers on the objects that it keeps.
      await apply(
        emergency(scene.plane),
        markedManifest('configmap', { name: `finalized-${type}`, namespace: 'guarded', finalizers: [held] }),
      );
      await mustKubectl(['delete', ...kept, '--wait=false'], scene.reeve);
      await mustKubectl(['patch', ...kept, `--type=${type}`, '-p', patch], scene.tenant);
      expect(await isGone(scene, kept)).toBe(true);
    });

    it.concurrent.each(['secret', 'configmap'] as const)('a large %s loses its finalizer', async (kind) => {
      const large = [kind, 'large', '-n', 'guarded'];
      await apply(
        emergency(scene.plane),
        largeManifest(kind, { name: 'large', namespace: 'guarded', finalizers: [held] }),
      );
      expect(await refusal(['label', ...large, 'touched=yes'], scene.tenant)).toContain(guardSays);
      await mustKubectl(['patch', ...large, '--type=merge', '-p', release], scene.tenant);
      expect(await mustKubectl(['delete', ...large], scene.reeve)).toContain('deleted');
    });

    it.concurrent.each(['foreground', 'orphan', 'background'])('a deletion ends: %s', async (cascade) => {
      const parent = `parent-${cascade}`;
      await apply(scene.reeve, markedManifest('configmap', { name: parent, namespace: 'guarded' }));
      const uid = await mustKubectl(
        ['get', 'configmap', parent, '-n', 'guarded', '-o=jsonpath={.metadata.uid}'],
        scene.administrator,
      );
      const ownerReferences = [
        { apiVersion: 'v1', kind: 'ConfigMap', name: parent, uid, blockOwnerDeletion: true },
      ];
      const child = ['configmap', `child-${cascade}`, '-n', 'guarded'];
      await apply(
        scene.tenant,
        manifest('configmap', { name: `child-${cascade}`, namespace: 'guarded', ownerReferences }),
      );
      await mustKubectl(
        ['delete', 'configmap', parent, '-n', 'guarded', `--cascade=${cascade}`, '--wait=false'],
        scene.reeve,
      );
      expect(await isGone(scene, ['configmap', parent, '-n', 'guarded'])).toBe(true);
      if (cascade === 'orphan') await mustKubectl(['get', ...child], scene.tenant);
      else expect(await isGone(scene, child)).toBe(true);
    });

    it.concurrent('controllers may write the status', async () => {
      const quota = { apiVersion: 'v1', kind: 'ResourceQuota' };
      const marked = { labels: { [markLabel]: 'reeve' }, annotations: owned };
      const metadata = { name: 'kept', namespace: 'guarded', ...marked };
      await apply(scene.reeve, JSON.stringify({ ...quota, metadata, spec: { hard: { pods: '5' } } }));
      const status = JSON.stringify({ status: { hard: { pods: '5' }, used: { pods: '0' } } });
      const kept = ['resourcequota', 'kept', '-n', 'guarded'];
      const patch = ['patch', '--subresource=status', ...kept, '--type=merge', '-p', status];
      await mustKubectl(patch, scene.administrator);
      const used = await mustKubectl(['get', ...kept, '-o=jsonpath={.status.used.pods}'], scene.tenant);
      expect(used).toBe('0');
      expect(await refusal(['label', ...kept, 'touched=yes'], scene.administrator)).toContain(guardSays);
    });
  });
}
