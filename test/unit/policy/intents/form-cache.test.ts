// Bindings of one form share what they compile to, and nothing of their own.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { FormCache } from '../../../../src/policy/intents/form-cache.ts';
import { unlimitedBudget } from '../../../../src/policy/terms/budget.ts';
import { knownNamespace } from '../../../support/engine.ts';
import { intentContext, loadStoredBinding, tenantBinding } from '../../../support/intents.ts';

const intents = {
  a: { id: 'escapeToHost' },
  b: { id: 'dnsManipulation' },
  c: { id: 'unAuthorizedSaTokenAccess' },
};

it('a binding means the same whether another binding of its form was compiled before or not', () => {
  const spec = fc.record(
    {
      intents: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'later'), { minLength: 1, maxLength: 2 }),
      workloads: fc.constantFrom(
        { matchLabels: { app: 'x' } },
        { cel: ['labels.app == "x"'] },
        { cel: ['broken('] },
      ),
      suspend: fc.boolean(),
      contact: fc.constantFrom('one', 'two'),
      maxDeletions: fc.integer({ min: 0, max: 3 }),
      deletionPolicy: fc.constantFrom('Delete', 'Orphan'),
    },
    { requiredKeys: ['intents'] },
  );
  const binding = fc
    .tuple(fc.constantFrom('shop', 'cart'), fc.constantFrom('x', 'y'), spec)
    .map(([namespace, name, written]) => tenantBinding(namespace, name, written));
  fc.assert(
    fc.property(fc.array(binding, { minLength: 2, maxLength: 6 }), (bindings) => {
      const shared = intentContext(intents);
      for (const each of bindings) {
        const { forms: _forms, ...alone } = intentContext(intents);
        expect(meaning(loadStoredBinding(each, shared))).toEqual(meaning(loadStoredBinding(each, alone)));
      }
    }),
  );
});

/** Returns all that can be compared: functions are replaced by what they give. */
function meaning(load: ReturnType<typeof loadStoredBinding>): unknown {
  if (!load.ok) return load.problems;
  if (load.value.kind !== 'NamespacePolicy') throw new Error('not a policy');
  const { object, compiled, intents: facts } = load.value;
  const { id, name, contact, actions, isSuspended, readsNamespace, roleNames, match } = compiled;
  const given = ['shop', 'cart'].map((each) => [
    match.names?.map((glob) => glob.matches(each)),
    compiled.contents.map((content) => content.render(knownNamespace(each), unlimitedBudget)),
  ]);
  const { sourceOf, ...listed } = { sourceOf: undefined, ...facts };
  const field = sourceOf?.(['spec', 'contents', 'resources', 0]);
  const defaults = compiled.namespaceDefaults.map(({ key, template }) => [key, template.render({})]);
  return {
    object,
    id,
    name,
    contact,
    actions,
    isSuspended,
    readsNamespace,
    roleNames,
    given,
    listed,
    field,
    defaults,
  };
}

it('a form is compiled once', () => {
  const cache = new FormCache();
  let count = 0;
  const compile = (): object => ({ count: (count += 1) });
  expect([cache.of('a', compile), cache.of('a', compile), cache.of('b', compile)]).toEqual([
    { count: 1 },
    { count: 1 },
    { count: 2 },
  ]);
});

it('forms that no binding has any more are forgotten', () => {
  const cache = new FormCache();
  let count = 0;
  for (let index = 0; index <= 2000; index += 1) cache.of(String(index), () => (count += 1));
  cache.of('0', () => (count += 1));
  expect(count).toBe(2002);
});
