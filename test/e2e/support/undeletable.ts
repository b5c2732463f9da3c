// Makes the Secrets of a namespace undeletable, so that tests can see them while the namespace is terminating.
import { forbidden } from './forbidden.ts';
import type { Stage } from './stage.ts';

/** Blocks deletion until the result is disposed of. `probe` is a Secret in the namespace that Reeve does not keep. */
export async function undeletableSecrets(
  stage: Stage,
  namespace: string,
  probe: string,
): Promise<AsyncDisposable> {
  const path = `/api/v1/namespaces/${namespace}/secrets/${probe}?dryRun=All`;
  return await forbidden(
    stage,
    { namespace, resource: 'secrets', operations: ['DELETE'] },
    async () => (await stage.cluster.admin.send('DELETE', path)).status === 200,
  );
}
