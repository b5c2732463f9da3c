import { describe, expect, test } from 'vitest';
import { readObject } from '../../../../src/sandbox/read/read.ts';
import { MemoryStore } from '../../../../src/sandbox/store.ts';
import { configMap, configMaps, errorTextOf, listed, requestFor } from './reading.ts';

/** The revisions 1001 to 1005. */
function filled(): MemoryStore {
  const store = new MemoryStore();
  for (const name of ['c', 'a', 'b', 'd'])
    store.put(configMaps, configMap('team', name, { name }), undefined);
  store.put(configMaps, configMap('other', 'a'), undefined);
  return store;
}

const inTeam = { namespace: 'team' };

describe('get', () => {
  test.each([
    ['', 'none'],
    ['resourceVersion=0', 'none'],
    ['resourceVersion=1001', 'none'],
    ['resourceVersion=x', '400 BadRequest: invalid resource version: resourceVersion: Invalid value: "x"'],
    ['resourceVersion=1006', '504 Timeout: Timeout: Too large resource version: 1006, current: 1005'],
  ])('?%s', (query, error) => {
    const request = requestFor(query, { ...inTeam, verb: 'get', name: 'a' });
    expect(errorTextOf(() => readObject(filled(), request))).toBe(error);
  });

  test('a get returns the object or answers 404', () => {
    const store = filled();
    const object = store.get(configMaps, 'team', 'a');
    expect(readObject(store, requestFor('', { ...inTeam, name: 'a' }))).toEqual({
      kind: 'object',
      code: 200,
      object,
    });
    expect(errorTextOf(() => readObject(store, requestFor('', { ...inTeam, name: 'e' })))).toBe(
      '404 NotFound: configmaps "e" not found',
    );
  });
});

describe('list', () => {
  test.each([
    ['', ['other/a', 'team/a', 'team/b', 'team/c', 'team/d']],
    ['fieldSelector=metadata.namespace%3Dteam&labelSelector=name+in+(a,d)', ['team/a', 'team/d']],
    ['labelSelector=!name', ['other/a']],
    ['limit=1&resourceVersion=0', ['other/a', 'team/a', 'team/b', 'team/c', 'team/d']],
    [
      'resourceVersion=1&resourceVersionMatch=NotOlderThan&limit=5',
      ['other/a', 'team/a', 'team/b', 'team/c', 'team/d'],
    ],
    ['resourceVersion=1005&resourceVersionMatch=Exact&labelSelector=name=b', ['team/b']],
  ])('?%s', (query, names) => {
    const answer = listed(filled(), query);
    expect(answer.names).toEqual(names);
    expect(answer.resourceVersion).toBe('1005');
  });

  const tooLarge = '504 Timeout: Timeout: Too large resource version: 1006, current: 1005';
  test.each([
    ['resourceVersion=-1', '400 BadRequest: invalid resource version: resourceVersion: Invalid value: "-1"'],
    ['resourceVersion=1006', tooLarge],
    ['resourceVersion=1006&resourceVersionMatch=Exact', tooLarge],
    [
      'resourceVersion=1004&resourceVersionMatch=Exact',
      '410 Expired: The resourceVersion for the provided watch or list is too old.',
    ],
    [
      'resourceVersionMatch=Exact',
      '422 Invalid: ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    ['continue=x', '400 BadRequest: invalid continue token: the sandbox answers every list whole'],
    ['fieldSelector=a%3Db', '400 BadRequest: field label not supported: a'],
  ])('?%s is refused', (query, error) => {
    expect(errorTextOf(() => listed(filled(), query))).toBe(error);
  });
});
