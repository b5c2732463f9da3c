// Which leaves of an object were read, lost or left.
import { array, assert, jsonValue, nat, property } from 'fast-check';
import { expect, test } from 'vitest';
import { renderPath, type Path } from '../../../src/base/problem.ts';
import { Reader } from '../../../src/importers/reader.ts';

test('a leaf that no method returned is unread', () => {
  const reader = new Reader({ a: 'x', b: { c: [1, 'y'] }, d: null, e: [], f: {} });
  expect(reader.at('a').text()).toBe('x');
  expect(reader.at('b', 'c').texts()).toEqual(['y']);
  expect(reader.unread()).toEqual([['b', 'c', 0]]);
});

test('a value of another type than the method returns stays unread', () => {
  const reader = new Reader({ a: 5, b: 'yes' });
  expect(reader.at('a').text()).toBeUndefined();
  expect(reader.at('b').flag()).toBeUndefined();
  expect(reader.unread()).toEqual([['a'], ['b']]);
});

test('a lost field covers all leaves below it, and a missing one is not lost', () => {
  const reader = new Reader({ a: { b: 1, c: 2 } });
  reader.at('a').lose('because');
  reader.at('z').lose('because');
  expect(reader.lost()).toMatchObject([{ from: { path: 'a' }, why: 'because' }]);
  expect(reader.unread()).toEqual([]);
});

test('a value that is read apart stays unread, and what is lost there is lost', () => {
  const reader = new Reader({ a: 'x', b: 'y', c: 'z' });
  reader.at('a').skip();
  const apart = reader.apart();
  expect(apart.at('b').text()).toBe('y');
  apart.at('c').lose('because');
  expect(apart.unread()).toEqual([]);
  expect(reader.unread()).toEqual([['b'], ['c']]);
  expect(reader.lost()).toMatchObject([{ from: { path: 'c' }, why: 'because' }]);
});

test('a key such as __proto__ is a key like any other', () => {
  const reader = new Reader(JSON.parse('{"__proto__": {"a": "x"}, "constructor": "y"}'));
  expect(reader.at('toString').isPresent).toBe(false);
  expect(reader.at('__proto__', 'a').text()).toBe('x');
  expect(reader.unread()).toEqual([['constructor']]);
});

test('an unread part below the first level counts as one, with all below it', () => {
  const reader = new Reader({
    spec: { a: { b: { c: 1, d: [2] } }, e: 'x' },
    metadata: { labels: { f: 'y' } },
  });
  expect(reader.unread().map(renderPath)).toEqual(['spec.a', 'spec.e', 'metadata.labels.f']);
  reader.at('spec', 'a', 'b', 'd').skip();
  expect(reader.unread().map(renderPath)).toEqual(['spec.a.b.c', 'spec.e', 'metadata.labels.f']);
});

test('each leaf of any value is read, lost or below what is unread, and only one of these', () => {
  assert(
    property(jsonValue({ maxDepth: 3 }), array(nat(3)), (value, choices) => {
      const reader = new Reader(value);
      const seen: Path[] = [];
      const leaves: Path[] = [];
      const visit = (each: Reader, path: Path): void => {
        const choice = choices[path.length % Math.max(1, choices.length)];
        const children = [...each.items().entries(), ...each.entries()].map(([key, child]) => ({
          child,
          path: [...path, key],
        }));
        if (choice === 1) each.lose('because');
        if (choice === 2) each.skip();
        if (choice === 1 || choice === 2) seen.push(path);
        else if (children.length === 0 && isLeaf(each)) leaves.push(path);
        for (const { child, path: below } of children) if (!seen.includes(path)) visit(child, below);
      };
      visit(reader, []);
      const unread = reader.unread();
      const isBelow = (path: Path, tops: readonly Path[]): boolean =>
        tops.some((top) => JSON.stringify(path.slice(0, top.length)) === JSON.stringify(top));
      expect(leaves.filter((leaf) => !isBelow(leaf, unread))).toEqual([]);
      expect(seen.filter((path) => isBelow(path, unread))).toEqual([]);
    }),
  );
});

function isLeaf(reader: Reader): boolean {
  return reader.isPresent && reader.unread().length > 0;
}
