// Runs client-go from the Go module of test/cluster: typed, with an informer, and dynamic for the kinds of Reeve.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { onEachBackend } from './support/backends.ts';

const program = inject('goClient');

/** Skipped where there is no Go, as without a control plane. */
describe.skipIf(program === undefined)('client-go', () => {
  onEachBackend('scenarios', (backend) => {
    let ns = '';
    beforeAll(async () => {
      await backend.installKinds();
      ns = await backend.namespace();
    });

    const seen = async (scenario: string): Promise<unknown> => {
      const { stdout } = await promisify(execFile)(program ?? '', [scenario, backend.kubeconfig, ns]);
      return JSON.parse(stdout) as unknown;
    };

    it('the typed client writes, is refused, and discovers kinds', async () => {
      const found = (await seen('typed')) as { readonly groups: readonly string[] };
      expect(found).toMatchObject({
        created: 'ann',
        type: 'Opaque',
        isAlreadyExists: true,
        isNotFound: true,
        isInvalid: true,
        isConflict: true,
        retried: true,
        patched: { made: 'there', more: 'here', retried: 'yes' },
        keysLeft: 0,
        applied: { a: 'b' },
        manager: 'contract',
        subjectGroup: 'rbac.authorization.k8s.io',
        listed: 1,
        isGone: true,
      });
      expect(found.groups).toEqual(
        expect.arrayContaining([
          'v1',
          'rbac.authorization.k8s.io/v1',
          'coordination.k8s.io/v1',
          'reeve.dev/v1alpha1',
        ]),
      );
    });

    it('an informer sees every change once and in order', async () => {
      expect(await seen('informer')).toEqual({
        events: ['added before', 'added after', 'updated after', 'deleted before'],
        cached: { a: 'b' },
      });
    });

    it('the dynamic client applies, watches and writes a status', async () => {
      expect(await seen('dynamic')).toEqual({
        generation: 1,
        desired: 3,
        specChanged: false,
        events: ['ADDED', 'MODIFIED', 'DELETED'],
      });
    });
  });
});
