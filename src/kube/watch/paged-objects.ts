// Gives the objects of a collection one after the other, holding no more than one page of them.
import type { KubeObject } from '../../base/kube-object.ts';
import type { KubeClient } from '../http/client.ts';
import { getPage } from './list-pages.ts';
import type { WatchTarget } from './watch-target.ts';

/** Rejects with a KubeError, of code 410 as well when the state of the first page is forgotten before the last is read. */
export async function* pagedObjects(
  client: KubeClient,
  target: WatchTarget,
  options: { readonly page: number; readonly signal: AbortSignal },
): AsyncGenerator<KubeObject, void, undefined> {
  let next = '';
  do {
    const query = { limit: String(options.page), ...(next === '' ? {} : { continue: next }) };
    const page = await getPage(client, target, query, options);
    yield* page.objects;
    next = page.next;
  } while (next !== '');
}
