// Removes what a test file has created on the control plane that it shares with other files.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { mustKubectl } from '../../support/kubectl.ts';
import { emergency } from './people.ts';

/** Deletes all cluster-scoped objects whose names begin with one of the prefixes. Reeve must still run. */
export async function cleanUp(cluster: ClusterAccess, ...prefixes: readonly string[]): Promise<void> {
  const kinds = 'namespacepolicies,secretshares,clusterroles,clusterrolebindings,namespaces';
  const all = await mustKubectl(['get', kinds, '-o=name'], cluster);
  const ours = all
    .split('\n')
    .filter((name) => prefixes.some((prefix) => name.split('/')[1]?.startsWith(prefix)));
  const namespaces = ours.filter((name) => name.startsWith('namespace/'));
  const others = ours.filter((name) => !name.startsWith('namespace/'));
  const administrator = emergency(cluster);
  if (others.length > 0)
    await mustKubectl(['delete', ...others, '--timeout=60s', '--ignore-not-found'], administrator);
  if (namespaces.length > 0)
    await mustKubectl(['delete', ...namespaces, '--wait=false', '--ignore-not-found'], administrator);
}
