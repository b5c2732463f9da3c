// Lists a collection page by page, either as one consistent state or one object after the other.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { malformedAnswer } from '../http/answers.ts';
import type { KubeClient } from '../http/client.ts';
import { listRequest, type WatchTarget } from './watch-target.ts';
import { resourceVersionOf, watchedObject, type ItemKind } from './watch-stream.ts';

export interface ListedState {
  readonly objects: readonly KubeObject[];
  readonly resourceVersion: string;
}

interface ListOptions {
  /** How many objects one page may have. */
  readonly page: number;
  readonly signal: AbortSignal;
  /** Called with the number of objects of each page. */
  onPage(objects: number): void;
}

/** Rejects with a KubeError. */
export async function listAll(
  client: KubeClient,
  target: WatchTarget,
  options: ListOptions,
): Promise<ListedState> {
  const first = await getPage(client, target, { limit: String(options.page) }, options);
  try {
    return await withFurtherPages(client, target, first, options);
  } catch (error) {
    if (!(error instanceof KubeError && error.code === expired)) throw error;
    // The state of the first page expired before the last page. Pages may always lose that race, so list without pages.
    return await getPage(client, target, {}, options);
  }
}

const expired = 410;

interface Page {
  readonly objects: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly next: string;
}

/** Every further page continues the state of the first page. */
async function withFurtherPages(
  client: KubeClient,
  target: WatchTarget,
  first: Page,
  options: ListOptions,
): Promise<ListedState> {
  const pages = [first];
  for (let { next } = first; next !== '';) {
    const page = await getPage(client, target, { limit: String(options.page), continue: next }, options);
    pages.push(page);
    ({ next } = page);
  }
  const objects = pages.flatMap((page) => page.objects);
  return { objects, resourceVersion: first.resourceVersion };
}

async function getPage(
  client: KubeClient,
  target: WatchTarget,
  query: Readonly<Record<string, string>>,
  options: Pick<ListOptions, 'signal'> & Partial<ListOptions>,
): Promise<Page> {
  const list = await client.request({ ...listRequest(target, query), signal: options.signal });
  const page = readPage(list, target);
  // Leaving out an object that cannot be read would look like its deletion.
  if (page === undefined) throw malformedAnswer();
  options.onPage?.(page.objects.length);
  return page;
}

function readPage(list: JsonObject, target: WatchTarget): Page | undefined {
  const itemKind = itemKindOf(list);
  const resourceVersion = resourceVersionOf(list);
  // Go encodes an empty list as null.
  const items = ownMember(list, 'items') ?? [];
  if (itemKind === undefined || resourceVersion === undefined || !Array.isArray(items)) return undefined;
  const objects = items.map((item) => watchedObject(item, target, itemKind));
  if (!areAllRead(objects)) return undefined;
  return { objects, resourceVersion, next: continueOf(list) };
}

function areAllRead(objects: readonly (KubeObject | undefined)[]): objects is readonly KubeObject[] {
  return !objects.includes(undefined);
}

const listSuffix = 'List';

function itemKindOf({ apiVersion, kind }: JsonObject): ItemKind | undefined {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !kind.endsWith(listSuffix))
    return undefined;
  return { apiVersion, kind: kind.slice(0, -listSuffix.length) };
}

function continueOf(list: JsonObject): string {
  const { metadata } = list;
  const next = isJsonObject(metadata) ? metadata['continue'] : undefined;
  return typeof next === 'string' ? next : '';
}

/** Yields all objects, with one page in memory. Rejects with a KubeError, also with 410 when the first page expires. */
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
