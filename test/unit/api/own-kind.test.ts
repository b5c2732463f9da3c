// A kind in a list of its own: everything that a CustomResourceDefinition says of a kind derives from one object.
import { expect, expectTypeOf, test } from 'vitest';
import { defineKind, type ObjectOfKind } from '../../../src/api/kind.ts';
import { crdOf, kindDefinitions, kinds, type ProviderKind } from '../../../src/api/kinds.ts';
import { integer, specification } from '../../../src/schema/schema.ts';

const parts = {
  kind: 'Garden',
  plural: 'gardens',
  shortName: 'gdn',
  word: 'garden',
  scope: 'Namespaced',
  description: 'A garden.',
  spec: specification({
    description: 'What grows.',
    fields: { trees: integer({ description: 'How many trees.', minimum: 0, maximum: 9 }) },
    required: ['trees'],
  }),
  columns: [{ name: 'Trees', type: 'integer', jsonPath: '.spec.trees', description: 'How many trees.' }],
} as const;
const garden = defineKind(parts);

const written = (spec: object) => ({
  apiVersion: 'reeve.dev/v1alpha1',
  kind: 'Garden',
  metadata: { name: 'g', namespace: 'shop' },
  spec,
});

test('the CustomResourceDefinition has the names, the scope, the columns and the fields of the kind', () => {
  const text = JSON.stringify(crdOf(garden));
  expect(crdOf(garden)).toMatchObject({
    metadata: { name: 'gardens.reeve.dev' },
    spec: {
      scope: 'Namespaced',
      names: { kind: 'Garden', listKind: 'GardenList', singular: 'garden', shortNames: ['gdn'] },
      versions: [{ additionalPrinterColumns: parts.columns }],
    },
  });
  expect(text).toContain('"trees":{"description":"How many trees."');
  expect(text).not.toContain('subresources');
});

test('the kind reads its objects, and names all problems of another one', () => {
  expect(garden.parse(written({ trees: 2 }))).toEqual({ ok: true, value: written({ trees: 2 }) });
  expect(garden.parse({ ...written({ trees: 99 }), kind: 'Park' })).toMatchObject({
    ok: false,
    problems: [{ path: ['kind'] }, { path: ['spec', 'trees'] }],
  });
});

test('a problem that no schema can express is one of the object', () => {
  const problem = { path: ['spec', 'trees'], found: '1', accepted: 'an even number' };
  const even = defineKind({ ...parts, problemsOf: ({ trees }) => (trees % 2 === 0 ? [] : [problem]) });
  expect(even.parse(written({ trees: 1 }))).toEqual({ ok: false, problems: [problem] });
});

test('the type of an object derives from the fields of the kind', () => {
  expectTypeOf<ObjectOfKind<typeof garden>['spec']>().toEqualTypeOf<{ readonly trees: number }>();
  expectTypeOf<ObjectOfKind<typeof garden>['metadata']['namespace']>().toEqualTypeOf<string>();
});

test('a kind without one of its parts does not compile', () => {
  const { plural: _plural, ...unnamed } = parts;
  const { word: _word, ...wordless } = parts;
  const { spec: _spec, ...empty } = parts;
  const { columns: _columns, ...untold } = parts;
  // @ts-expect-error -- a kind has a plural
  expect(defineKind(unnamed)).toBeDefined();
  // @ts-expect-error -- a kind has a word
  expect(defineKind(wordless)).toBeDefined();
  // @ts-expect-error -- a kind has a spec
  expect(() => defineKind(empty)).toBeDefined();
  // @ts-expect-error -- a kind has columns
  expect(defineKind(untold)).toBeDefined();
});

test('each kind stands in the list under its own name', () => {
  expect(Object.entries(kinds).map(([name, { kind }]) => [name, kind])).toEqual(
    kindDefinitions.map(({ kind }) => [kind, kind]),
  );
  expectTypeOf<ProviderKind>().toEqualTypeOf<
    Exclude<keyof typeof kinds, 'SecurityIntent' | 'NamespaceClaim'>
  >();
});
