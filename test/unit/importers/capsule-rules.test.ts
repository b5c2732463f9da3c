// What the policies of an imported Tenant refuse to its owner, once they have Deny.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { importFrom } from '../../../src/importers/importers.ts';
import { decide } from '../../../src/policy/decide/decide.ts';
import { aNamespace, aReview, circumstances, snapshotOf } from '../../support/engine.ts';

const tenantLabel = 'capsule.clastix.io/tenant';
const level = 'pod-security.kubernetes.io/enforce';

function tenant(name: string, user: string): { readonly object: KubeObject } {
  const namespaceOptions = { additionalMetadata: { labels: { [level]: 'baseline' } } };
  const spec = { owners: [{ kind: 'User', name: user }], namespaceOptions };
  const object = { apiVersion: 'capsule.clastix.io/v1beta2', kind: 'Tenant', metadata: { name }, spec };
  return { object };
}

const imported = importFrom('capsule', [tenant('solar', 'alice'), tenant('wind', 'bob')]).objects;
const specs = imported.map(({ object }) => {
  const { metadata, spec } = object as KubeObject & { readonly spec: object };
  return [metadata.name, { ...spec, validationActions: ['Deny'] }];
});
const snapshot = snapshotOf(Object.fromEntries(specs) as Record<string, unknown>);

type Labels = Readonly<Record<string, string>>;

function rulesBroken(labels: Labels, oldLabels: Labels | undefined, user: string): readonly string[] {
  const review = aReview({
    user,
    object: aNamespace({ name: 'a', labels }),
    ...(oldLabels && { oldObject: aNamespace({ name: 'a', labels: oldLabels }) }),
  });
  return decide(review, snapshot, circumstances).violations.map(({ violation }) => violation.rule);
}

const own = { [tenantLabel]: 'solar', [level]: 'baseline' };
interface Write {
  readonly what: string;
  readonly rules: readonly string[];
  readonly labels: Labels;
  readonly old?: Labels;
  readonly user?: string;
}

const [none, outside, owners] = [[], ['validations/tenants-only'], ['validations/owners']];
const writes: readonly Write[] = [
  { what: 'creates a namespace of her tenant', rules: none, labels: own },
  { what: 'labels a namespace of her tenant', rules: none, labels: { ...own, a: 'b' }, old: own },
  { what: 'creates a namespace outside of tenants', rules: outside, labels: { [level]: 'baseline' } },
  { what: 'creates a namespace of an unknown tenant', rules: outside, labels: { [tenantLabel]: 'x' } },
  {
    what: 'lowers the Pod Security level',
    rules: ['namespaces.required'],
    labels: { ...own, [level]: 'privileged' },
    old: own,
  },
  { what: 'changes a namespace outside of tenants', rules: outside, labels: { a: 'b' }, old: {} },
  { what: 'brings a namespace under her tenant', rules: owners, labels: own, old: { [level]: 'baseline' } },
  {
    what: 'changes a namespace of another tenant',
    rules: owners,
    labels: { ...own, a: 'b' },
    old: own,
    user: 'bob',
  },
  {
    what: 'creates a namespace of another tenant',
    rules: ['namespaces.requesters'],
    labels: own,
    user: 'bob',
  },
];

test.each(writes)('an owner who $what breaks the rules $rules', ({ rules, labels, old, user = 'alice' }) => {
  expect(rulesBroken(labels, old, user)).toEqual(rules);
});

test('an owner who takes the label of the tenant away breaks a rule', () => {
  expect(rulesBroken({ [level]: 'baseline' }, own, 'alice')).toContain('namespaces.immutable');
});

test('a user whom Capsule does not limit changes namespaces outside of tenants', () => {
  expect(rulesBroken({ a: 'b' }, {}, 'carol')).toEqual([]);
});

test('a Tenant whose policy would not load stays, with its RoleBindings, and no rule counts on its policy', () => {
  const { object } = tenant('moon', 'carol');
  const additionalMetadata = { annotations: { cost: 'cost-${x}' } };
  const spec = { owners: [{ kind: 'User', name: 'carol' }], namespaceOptions: { additionalMetadata } };
  const { objects, steps } = importFrom('capsule', [
    tenant('solar', 'alice'),
    { object: { ...object, spec } },
  ]);
  const text = JSON.stringify(objects);
  expect([text.includes('solar'), text.includes('moon')]).toEqual([true, false]);
  expect(steps.filter((step) => step.includes('moon'))).toEqual([
    'keep Tenant moon and the RoleBindings of Capsule in its namespaces: NamespacePolicy moon would not load. Mend that, and import it again',
  ]);
});

test.for([
  [1024, 'required', '"cost":{"values":["'],
  [1025, 'validations', '"name":"annotations-1"'],
] as const)(
  'an annotation of %i characters that the tenant sets becomes a rule of %s',
  ([length, , rule]) => {
    const { object } = tenant('moon', 'carol');
    const additionalMetadata = { annotations: { cost: 'x'.repeat(length) } };
    const spec = { owners: [{ kind: 'User', name: 'carol' }], namespaceOptions: { additionalMetadata } };
    const { objects } = importFrom('capsule', [{ object: { ...object, spec } }]);
    expect(JSON.stringify(objects)).toContain(rule);
  },
);
