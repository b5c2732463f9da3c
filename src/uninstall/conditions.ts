// Takes the condition reeve.dev/Ready from the namespaces: nobody would keep it true any more.
import { ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { readyCondition } from '../api/names.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
import { nameOf } from '../base/metadata.ts';
import { inParallel } from './in-parallel.ts';
import { listObjects } from './listing.ts';
import { isGone, wordsOf, type Problems } from './removal.ts';

const namespaces = { apiVersion: 'v1', plural: 'namespaces' };
const atOnce = 16;

export async function removeConditions(client: KubeClient, say: (line: string) => void): Promise<Problems> {
  try {
    const all = await listObjects(client, { path: resourcePath(namespaces) });
    const outcomes = await inParallel(all.filter(hasCondition), atOnce, (object) =>
      removeCondition(nameOf(object), client, say),
    );
    return outcomes.filter((problem) => problem !== undefined);
  } catch (error) {
    return [`Namespaces: ${wordsOf(error)}`];
  }
}

function hasCondition({ status }: KubeObject): boolean {
  const conditions = ownMember(status, 'conditions');
  return Array.isArray(conditions) && conditions.some((each) => ownMember(each, 'type') === readyCondition);
}

async function removeCondition(
  name: string,
  client: KubeClient,
  say: (line: string) => void,
): Promise<string | undefined> {
  try {
    await client.request({
      method: 'PATCH',
      path: resourcePath({ ...namespaces, name, subresource: 'status' }),
      // Knows that conditions are told apart by their type, so that those of others stay whatever happens meanwhile.
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions: [{ type: readyCondition, $patch: 'delete' }] } },
    });
    say(`took the condition ${readyCondition} from Namespace ${name}`);
    return undefined;
  } catch (error) {
    return isGone(error) ? undefined : `Namespace ${name}: ${wordsOf(error)}`;
  }
}
