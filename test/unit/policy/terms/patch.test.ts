import { expect, test } from 'vitest';
import { patchedBy, patchOf } from '../../../../src/policy/decide/mutate.ts';

const none = new Map<string, string>();

test.for([
  ['nothing to add', { labels: { a: 'b' } }, [], [], []],
  [
    'a map that is absent is added whole',
    {},
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
    [],
    [{ op: 'add', path: '/metadata/labels', value: { a: 'b', c: 'd' } }],
  ],
  [
    'a key is added to a map',
    { labels: {} },
    [['a', 'b']],
    [],
    [{ op: 'add', path: '/metadata/labels/a', value: 'b' }],
  ],
  [
    'slashes and tildes are escaped',
    { annotations: { x: 'y' } },
    [],
    [['example.com/a~1b', 'v']],
    [{ op: 'add', path: '/metadata/annotations/example.com~1a~01b', value: 'v' }],
  ],
  [
    'keys come in order',
    { labels: { x: 'y' } },
    [
      ['b', '2'],
      ['a', '1'],
    ],
    [],
    [
      { op: 'add', path: '/metadata/labels/a', value: '1' },
      { op: 'add', path: '/metadata/labels/b', value: '2' },
    ],
  ],
] as const)('%s', ([, metadata, labels, annotations, patch]) => {
  const additions = { labels: new Map(labels), annotations: new Map(annotations) };
  const operations = patchOf({ metadata }, additions);
  expect(operations).toEqual(patch);
  const { labels: added = {}, annotations: noted = {} } = patchedBy({ metadata }, operations).metadata;
  expect(added).toMatchObject(Object.fromEntries(labels));
  expect(noted).toMatchObject(Object.fromEntries(annotations));
});

test('a key that every object inherits becomes a member', () => {
  const [operation] = patchOf({ metadata: {} }, { labels: new Map([['__proto__', 'x']]), annotations: none });
  expect(JSON.stringify(operation)).toBe('{"op":"add","path":"/metadata/labels","value":{"__proto__":"x"}}');
});
