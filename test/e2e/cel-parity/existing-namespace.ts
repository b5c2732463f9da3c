// Creates the one stored namespace, which the subjects change, delete and fill.
import { vi } from 'vitest';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { existing, existingPath } from './subjects.ts';

const patience = { timeout: 60_000, interval: 50 };

/** Replaces the namespace that an earlier run may have left. */
export async function makeExisting(cluster: ClusterAccess): Promise<unknown> {
  const { admin } = cluster;
  await removeExisting(cluster);
  return await vi.waitFor(async () => {
    await admin.mustSend('POST', '/api/v1/namespaces', existing);
    return await admin.mustSend('GET', existingPath);
  }, patience);
}

export async function removeExisting({ admin, hasControllers }: ClusterAccess): Promise<void> {
  await admin.send('DELETE', existingPath);
  // Without controllers, the test itself confirms that the namespace is empty.
  if (!hasControllers) await admin.send('PUT', `${existingPath}/finalize`, { ...existing, spec: {} });
}
