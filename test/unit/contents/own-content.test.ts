// A kind of content in a list of its own: fields, compilation, rights and warnings derive from the list.
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { ContentsSpec } from '../../../src/api/namespace-policy/namespace-policy.ts';
import { contentKind, keeping, writing, type ContentKind } from '../../../src/contents/content.ts';
import {
  compileContents,
  contentFields,
  contentKinds,
  contentsRules,
} from '../../../src/contents/contents.ts';
import { contentChanges } from '../../../src/policy/authors/content-changes.ts';
import { neededRights, ownRights } from '../../../src/policy/authors/needed-rights.ts';
import { partsWithoutEffect } from '../../../src/policy/authors/no-effect.ts';
import type { ProviderWrite } from '../../../src/policy/authors/provider-write.ts';
import type { ProviderDefinition } from '../../../src/policy/compile/load-provider.ts';
import { desiredByProvider, providerOf } from '../../../src/policy/desired/desired.ts';
import { unlimitedBudget } from '../../../src/policy/terms/budget.ts';
import type { RuleContext } from '../../../src/rules/rule.ts';
import { list, object, text } from '../../../src/schema/schema.ts';
import { toOpenApi } from '../../../src/schema/openapi.ts';
import { kindPage } from '../../checks/reference/kind-page.ts';
import { aNamespace, aPolicy, aSnapshot, circumstances, testInstall } from '../../support/engine.ts';

const word = (description: string) => text({ description, maxLength: 99, braces: 'template' });
const type = { apiVersion: 'example.com/v1', kind: 'Banner' };
const right = { group: 'example.com', resource: 'banners', field: undefined } as const;

const banners = contentKind({
  name: 'banners',
  field: list({
    description: 'Banners.',
    items: object({
      description: 'A banner.',
      fields: { name: word('Its name.'), slogan: word('Its slogan.'), expiresAt: word('Its end.') },
      required: ['name', 'slogan'],
    }),
    maxItems: 9,
  }),
  ownership: 'object',
  type,
  namePath: ['name'],
  template: ({ name, slogan }) => ({
    value: { name, slogan },
    isFixed: () => false,
    checks: () => undefined,
  }),
  render: { build: (rendered) => ({ kind: 'object', body: { ...type, spec: rendered } }) },
  expiry: (banner) => banner,
  rights: ({ name }) => [
    {
      ...right,
      verbs: writing,
      effect: 'write banners',
      own: { purpose: 'reconciler', verbs: keeping },
    },
    {
      ...right,
      verbs: ['unfurl'],
      name,
      effect: `unfurl ${name}`,
      field: ['slogan'],
      handsOut: true,
      own: { purpose: 'bind', verbs: ['unfurl'] },
    },
  ],
  compare: {
    summary: ({ slogan }) => `says ${slogan}`,
    differences: (before, after) => [
      { what: 'slogan', before: before.slogan, after: after.slogan, isReplaced: true },
    ],
    isReduced: () => false,
  },
});

const team = "${namespaceObject.metadata.labels['team']}";
const first = { name: 'welcome', slogan: `Go ${team}` };

function definitionOf(...contents: readonly object[]): ProviderDefinition {
  const spec = { banners: contents };
  const compiled = compileContents(spec, { variables: [], cluster: undefined, compiled: { nodes: 0 } }, [
    banners,
  ]);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const definition = {
    kind: 'NamespacePolicy',
    object: { metadata: { name: 'p' }, spec: { contents: spec } },
    compiled: { ...aPolicy('p', {}), contents: compiled.value },
  };
  return definition as unknown as ProviderDefinition;
}

const red = aNamespace({ name: 'n', labels: { team: 'red' } });
const fields = contentFields([banners]);
const block = object({ description: 'Contents.', fields });

test('the CRD has the list of the kind', () => {
  expect(toOpenApi(block).properties).toMatchObject({
    banners: { type: 'array', description: 'Banners.', maxItems: 9, items: { required: ['name', 'slogan'] } },
  });
});

test('the reference has a row for the list and its fields', () => {
  const spec = object({ description: 'A policy.', fields: { contents: block } });
  const page = kindPage({
    title: 'Policies',
    schemas: { description: 'A policy.', spec },
    columns: [],
    see: '',
  });
  expect(page).toContain('### `spec.contents.banners[]`');
  expect(page).toMatch(/`slogan`.*Its slogan\./);
});

test('a namespace desires the object, and skips one that needs a missing label', () => {
  const provider = providerOf(definitionOf(first));
  const { claims } = desiredByProvider(provider, red, circumstances.now, unlimitedBudget);
  expect([...claims.values()].flat()).toMatchObject([
    { type, name: 'welcome', content: { body: { ...type, spec: { name: 'welcome', slogan: 'Go red' } } } },
  ]);
  const plain = aNamespace({ name: 'n' });
  const { skipped } = desiredByProvider(provider, plain, circumstances.now, unlimitedBudget);
  expect(skipped).toEqual([
    { provider: 'NamespacePolicy/p', type, name: 'welcome', message: 'label team is missing' },
  ]);
});

test('a Namespace that makes the content fail violates the rule contents', () => {
  const { compiled } = definitionOf({ name: 'b', slogan: "${[][0] + 'x'}" });
  const [rule] = contentsRules('contents' in compiled ? compiled.contents : []);
  const context = { ...circumstances, namespaceObject: red } as unknown as RuleContext;
  const violations = rule?.shape === 'state' ? rule.judge(red, context) : [];
  expect(violations.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^Banner b fails: slogan has an error: /),
  ]);
});

test('an object that has expired is no longer desired, and a message says so', () => {
  const definition = definitionOf({ ...first, expiresAt: '2026-01-01T00:00:00Z' });
  const { claims, expired } = desiredByProvider(
    providerOf(definition),
    red,
    circumstances.now,
    unlimitedBudget,
  );
  expect([claims.size, [...expired.values()].flatMap((each) => [...each.values()])]).toEqual([0, [type]]);
  const parts = partsWithoutEffect(definition, { matched: 1, errors: 0 }, aSnapshot([]), circumstances.now);
  expect(parts.map(({ message }) => message)).toEqual([
    'spec.contents.banners[0] expired at 2026-01-01T00:00:00Z, so Banner welcome is not provided',
  ]);
});

test('the author and the account of Reeve need the rights of the kind', () => {
  const definition = definitionOf(first, { ...first, name: 'farewell' });
  const rights = neededRights(definition, testInstall);
  expect(rights.map(({ verbs, name = '', path }) => `${path}: ${verbs.join()} ${name}`)).toEqual([
    'spec.contents.banners: create,patch,delete ',
    'spec.contents.banners[0].slogan: unfurl welcome',
    'spec.contents.banners[1].slogan: unfurl farewell',
  ]);
  expect(ownRights(definition, testInstall)).toMatchObject([
    { purpose: 'reconciler', verbs: keeping, resource: 'banners' },
    { purpose: 'bind', name: 'welcome' },
    { purpose: 'bind', name: 'farewell' },
  ]);
});

test('a warning words the change of a content as the kind does', () => {
  const write = {
    before: definitionOf(first),
    after: definitionOf({ ...first, slogan: 'Stop' }, { ...first, name: 'farewell' }),
  } as unknown as ProviderWrite;
  expect(contentChanges(write, testInstall).map(({ text: what, detail }) => `${what} (${detail})`)).toEqual([
    'adds Banner welcome (says Stop)',
    `changes Banner welcome (slogan ${first.slogan.slice(0, 39)}… -> Stop; deleted and created again)`,
    `adds Banner farewell (says ${first.slogan})`,
  ]);
});

test('no two listed kinds of content have one name', () => {
  const names = contentKinds.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

describe('the compiler', () => {
  type Own = typeof banners;

  test('each part of a kind of content is needed', () => {
    expectTypeOf<Own>().toExtend<ContentKind>();
    expectTypeOf<Omit<Own, 'name'>>().not.toExtend<ContentKind>();
    expectTypeOf<Omit<Own, 'field'>>().not.toExtend<ContentKind>();
    expectTypeOf<Omit<Own, 'ownership'>>().not.toExtend<ContentKind>();
    expectTypeOf<Omit<Own, 'type'>>().not.toExtend<ContentKind>();
    expectTypeOf<Omit<Own, 'namePath'>>().not.toExtend<ContentKind>();
    expectTypeOf<Omit<Own, 'template'>>().not.toExtend<ContentKind>();
    expectTypeOf<Omit<Own, 'render'>>().not.toExtend<ContentKind>();
    expectTypeOf<Omit<Own, 'rights'>>().not.toExtend<ContentKind>();
    expectTypeOf<Omit<Own, 'compare'>>().not.toExtend<ContentKind>();
  });

  test('the field contents of a policy has exactly the listed kinds', () => {
    expectTypeOf<keyof ContentsSpec>().toEqualTypeOf<(typeof contentKinds)[number]['name']>();
  });
});
