import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MemoryStore, type Change, type SandboxStore } from '../../../../src/sandbox/store.ts';
import { configMap, configMaps, errorTextOf, next, secrets, watched } from './reading.ts';
import type { SandboxWatchEvent } from '../../../../src/sandbox/read/read.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function put(
  store: SandboxStore,
  name: string,
  labels: Record<string, string> = {},
  namespace = 'team',
): void {
  store.put(configMaps, configMap(namespace, name, labels), store.get(configMaps, namespace, name));
}

function remove(store: SandboxStore, name: string): void {
  const object = store.get(configMaps, 'team', name);
  if (object !== undefined) store.remove(configMaps, object);
}

class CountingStore extends MemoryStore {
  readonly listeners = new Set<(change: Change) => void>();

  override subscribe(listener: (change: Change) => void): () => void {
    const stop = super.subscribe(listener);
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
      stop();
    };
  }
}

/** a@1001, b@1002 */
function filled(historyLimit?: number): MemoryStore {
  const store = new MemoryStore(historyLimit);
  put(store, 'a');
  put(store, 'b');
  return store;
}

async function take(events: AsyncIterator<SandboxWatchEvent>, count: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < count) texts.push(await next(events));
  return texts;
}

const both = ['ADDED a@1001', 'ADDED b@1002'];
const initialEnd = 'BOOKMARK ConfigMap@1002 {"k8s.io/initial-events-end":"true"}';

describe('the beginning of a watch', () => {
  const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  test.each([
    ['', [...both, 'ADDED c@1003']],
    ['resourceVersion=0', [...both, 'ADDED c@1003']],
    ['allowWatchBookmarks=true', [...both, initialEnd, 'ADDED c@1003']],
    [`${initial}&allowWatchBookmarks=1`, [...both, initialEnd, 'ADDED c@1003']],
    [`${initial}&resourceVersion=1001`, [...both, 'ADDED c@1003']],
    ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan', ['ADDED c@1003']],
    ['resourceVersion=1002&allowWatchBookmarks=true', ['ADDED c@1003']],
    ['resourceVersion=1000', [...both, 'ADDED c@1003']],
    ['resourceVersion=999', ['ERROR 410 Expired', 'the end']],
    ['fieldSelector=metadata.name%3Dd', ['ADDED d@1004']],
  ])('?%s', async (query, expected) => {
    const store = filled();
    const events = watched(store, query);
    const taken = take(events, expected.length);
    await vi.advanceTimersByTimeAsync(1);
    for (const name of ['c', 'd']) put(store, name);
    expect(await taken).toEqual(expected);
    await events.return?.();
    expect(vi.getTimerCount()).toBe(0);
  });

  const refused = '422 Invalid: ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ';
  test.each([
    ['resourceVersion=x', '400 BadRequest: invalid resource version'],
    ['resourceVersion=1003', '504 Timeout: Timeout: Too large resource version: 1003, current: 1002'],
    ['labelSelector==', '400 BadRequest: unable to parse requirement'],
    ['sendInitialEvents=true', `${refused}resourceVersionMatch must be NotOlderThan for sendInitialEvents`],
    ['sendInitialEvents=true&resourceVersionMatch=Exact', refused],
  ])('?%s is refused', (query, error) => {
    expect(errorTextOf(() => watched(filled(), query))).toContain(error);
  });
});

describe('the changes', () => {
  test('the changes include only the kind and the namespace of the watch', async () => {
    const store = filled();
    const events = watched(store, 'resourceVersion=1002', { namespace: 'team' });
    put(store, 'x', {}, 'other');
    store.put(secrets, configMap('team', 's'), undefined);
    put(store, 'a');
    const taken = take(events, 2);
    put(store, 'y', {}, 'other');
    remove(store, 'a');
    expect(await taken).toEqual(['MODIFIED a@1005', 'DELETED a@1007']);
  });

  test.each([['resourceVersion=1002'], ['']])('objects come and go with their labels: ?%s', async (query) => {
    const store = filled();
    const events = watched(store, `labelSelector=shown&${query}`);
    const first = next(events);
    put(store, 'a', { shown: '1' });
    put(store, 'a', { shown: '2' });
    put(store, 'a', { other: '3' });
    put(store, 'a', { other: '4' });
    put(store, 'a', { shown: '5' });
    remove(store, 'a');
    remove(store, 'b');
    expect([await first, ...(await take(events, 1))]).toEqual(['ADDED a@1003', 'MODIFIED a@1004']);
    expect(await events.next()).toEqual({
      done: false,
      value: {
        type: 'DELETED',
        object: {
          ...configMap('team', 'a', { shown: '2' }),
          metadata: { namespace: 'team', name: 'a', labels: { shown: '2' }, resourceVersion: '1005' },
        },
      },
    });
    expect(await take(events, 2)).toEqual(['ADDED a@1007', 'DELETED a@1008']);
  });

  test('the changes reach an open watch even when the history is shorter', async () => {
    const store = filled(1);
    const events = watched(store, 'resourceVersion=1001');
    expect(await next(events)).toBe('ADDED b@1002');
    put(store, 'c');
    put(store, 'd');
    expect(await take(events, 2)).toEqual(['ADDED c@1003', 'ADDED d@1004']);
    expect(await next(watched(store, 'resourceVersion=1002'))).toBe('ERROR 410 Expired');
  });

  test('the changes wait for a slow reader, up to a limit', async () => {
    const store = filled();
    const events = watched(store, 'resourceVersion=1001');
    expect(await next(events)).toBe('ADDED b@1002');
    for (let count = 0; count < 10_001; count += 1) put(store, 'c');
    const taken = await take(events, 10_001);
    expect(taken.slice(0, 2)).toEqual(['ADDED c@1003', 'MODIFIED c@1004']);
    expect(taken.slice(-2)).toEqual(['MODIFIED c@11002', 'the end']);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('the end of a watch comes after the timeout and after bookmarks', async () => {
  const store = filled();
  const events = watched(store, 'resourceVersion=1002&allowWatchBookmarks=true&timeoutSeconds=90');
  const taken = take(events, 4);
  put(store, 'c');
  await vi.advanceTimersByTimeAsync(60_000);
  put(store, 'x', {}, 'other');
  store.put(secrets, configMap('team', 's'), undefined);
  await vi.advanceTimersByTimeAsync(29_999);
  expect(vi.getTimerCount()).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect((await taken).slice(0, 2)).toEqual(['ADDED c@1003', 'BOOKMARK ConfigMap@1003']);
  expect(await taken).toEqual(['ADDED c@1003', 'BOOKMARK ConfigMap@1003', 'ADDED x@1004', 'the end']);
  expect(vi.getTimerCount()).toBe(0);
});

test('the end of a watch does not come early, and without a request there are no bookmarks', async () => {
  const events = watched(filled(), 'resourceVersion=1002&timeoutSeconds=9000000');
  const taken = next(events);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  await vi.advanceTimersByTimeAsync(2 ** 31);
  expect(await taken).toBe('the end');
});

test('the end of a watch comes when the client disconnects', async () => {
  const store = new CountingStore();
  for (const name of ['a', 'b']) put(store, name);
  const leaving = new AbortController();
  const parts = { signal: leaving.signal };
  const waiting = watched(store, 'resourceVersion=1002', parts);
  const early = watched(store, '', parts);
  const untouched = watched(store, '', parts);
  const taken = next(waiting);
  expect(await next(early)).toBe('ADDED a@1001');
  expect(store.listeners.size).toBe(2);
  leaving.abort();
  expect(await taken).toBe('the end');
  expect(await take(early, 2)).toEqual(['ADDED b@1002', 'the end']);
  expect(await take(untouched, 3)).toEqual([...both, 'the end']);
  expect(store.listeners.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});
