// Waits until the Pods of Reeve have ended. They have no rights any more then, but they hold up the end of their namespace.
import { partOfLabel, partOfReeve } from '../api/names.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
import { listObjects } from './listing.ts';
import { inTime, wordsOf, type Problems } from './removal.ts';

export async function podsEnded(
  namespace: string,
  client: KubeClient,
  patienceMs: number,
): Promise<Problems> {
  const target = {
    path: resourcePath({ apiVersion: 'v1', plural: 'pods', namespace }),
    labelSelector: `${partOfLabel}=${partOfReeve}`,
    metadataOnly: true,
  };
  const areGone = async (): Promise<boolean> => (await listObjects(client, target)).length === 0;
  try {
    return (await inTime(areGone, patienceMs)) ? [] : [`Pods of Reeve in ${namespace} have not ended yet`];
  } catch (error) {
    return [`Pods in ${namespace}: ${wordsOf(error)}`];
  }
}
