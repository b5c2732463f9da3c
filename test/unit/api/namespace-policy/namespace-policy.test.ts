// The kind NamespacePolicy: what parses to what, and what the types promise.
import { kinds } from '../../../../src/api/kinds.ts';
import { describe, expect, expectTypeOf, it, test } from 'vitest';
import type {
  NamespacePolicySpec,
  PolicyException,
  ValidationAction,
} from '../../../../src/api/namespace-policy/namespace-policy.ts';
import type { DefaultsSpec } from '../../../../src/rules/default-keys.ts';
import { ruleIds } from '../../../../src/rules/rules.ts';
import { renderProblem } from '../../../../src/base/problem.ts';

function policyWith(spec: unknown, more: object = {}): unknown {
  return {
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'NamespacePolicy',
    metadata: { name: 'test' },
    spec,
    ...more,
  };
}

function problemsOf(spec: unknown): readonly string[] {
  const parsed = kinds.NamespacePolicy.parse(policyWith(spec));
  return parsed.ok ? [] : parsed.problems.map(renderProblem);
}

const binding = {
  name: 'x',
  roleRef: { kind: 'ClusterRole', name: 'edit' },
  subjects: [{ kind: 'User', name: 'jane' }],
};
const rulesText = ruleIds.join(', ');

describe('kinds.NamespacePolicy.parse', () => {
  it('the parser sets the defaults', () => {
    expect(kinds.NamespacePolicy.parse(policyWith({}))).toEqual({
      ok: true,
      value: policyWith({
        validationActions: ['Deny'],
        existing: 'Report',
        deletionPolicy: 'Delete',
        maxDeletions: 20,
        suspend: false,
      }),
    });
  });

  it('the parser sets the defaults of a block only if the block is given', () => {
    const parsed = kinds.NamespacePolicy.parse(
      policyWith({ secrets: { tls: {} }, rbac: {}, namespaces: { deletion: {} } }),
    );
    expect(parsed).toMatchObject({
      ok: true,
      value: {
        spec: {
          secrets: { tls: { keyMatchesCertificate: false } },
          rbac: { forbidWildcardRules: false },
          namespaces: { deletion: { protect: false } },
        },
      },
    });
  });

  it('parsing the result again returns the same', () => {
    const once = kinds.NamespacePolicy.parse(
      policyWith({ match: { names: ['a'] }, contents: { roleBindings: [binding] } }),
    );
    if (!once.ok) throw new Error('refused');
    expect(kinds.NamespacePolicy.parse(once.value)).toEqual(once);
  });

  it.each([undefined, null, 5, 'text', [], {}, Object.create(null)])(
    'the parser refuses %o without throwing',
    (value) => {
      expect(kinds.NamespacePolicy.parse(value).ok).toBe(false);
    },
  );

  it('the parser keeps a valid status and drops an invalid one', () => {
    const good = kinds.NamespacePolicy.parse(policyWith({}, { status: { matched: 3 } }));
    const odd = kinds.NamespacePolicy.parse(policyWith({}, { status: { matched: 'three' } }));
    expect(good).toMatchObject({ ok: true, value: { status: { matched: 3 } } });
    expect(odd.ok && Object.hasOwn(odd.value, 'status')).toBe(false);
    expect(odd.ok).toBe(true);
  });

  it('the parser keeps unknown metadata', () => {
    const parsed = kinds.NamespacePolicy.parse(
      policyWith({}, { metadata: { name: 'test', generation: 3, uid: 'u' } }),
    );
    expect(parsed).toMatchObject({
      ok: true,
      value: { metadata: { name: 'test', generation: 3, uid: 'u' } },
    });
  });
});

describe('accepted policies', () => {
  it.each<readonly [string, unknown]>([
    ['a selector of everything', { match: { namespaceSelector: {} } }],
    ['a key with the longest prefix', { namespaces: { immutable: { labels: [`${'a.'.repeat(126)}a/b`] } } }],
    ['a key with the longest name', { namespaces: { immutable: { labels: ['a'.repeat(63)] } } }],
    [
      'an empty label value that is accepted',
      { namespaces: { required: { labels: { a: { values: [''] } } } } },
    ],
    ['a quota of none', { namespaces: { quota: { label: 'team', max: 0 } } }],
    ['a docker configuration that need only be readable', { secrets: { dockerConfig: {} } }],
    ['a default that is a template', { namespaces: { defaults: { labels: { a: '${object}' } } } }],
    [
      'a mark of somebody else',
      { namespaces: { defaults: { labels: { 'app.kubernetes.io/managed-by': 'helm' } } } },
    ],
    ['an expression of 4096 characters', { validations: [{ name: 'x', expression: 'x'.repeat(4096) }] }],
    ['all actions that go together', { validationActions: ['Warn', 'Audit'] }],
    [
      'every rule in an exception',
      { exceptions: [{ namespaces: ['*'], rules: [...ruleIds, 'validations/example.com/x'] }] },
    ],
    [
      'a resource with anything in it',
      {
        contents: {
          resources: [
            {
              apiVersion: 'a.io/v1',
              kind: 'B',
              metadata: { name: 'x' },
              // In a literal, `__proto__` would set the prototype and no key.
              data: JSON.parse('{"__proto__": 1, "constructor": {"toString": null}}') as unknown,
            },
          ],
        },
      },
    ],
    [
      'a Job that stays',
      {
        contents: {
          resources: [
            {
              apiVersion: 'batch/v1',
              kind: 'Job',
              metadata: { name: 'x' },
              spec: { ttlSecondsAfterFinished: null },
            },
          ],
        },
      },
    ],
    [
      'a pod template with the mark of somebody else',
      {
        contents: {
          resources: [
            {
              apiVersion: 'apps/v1',
              kind: 'Deployment',
              metadata: { name: 'x' },
              spec: { template: { metadata: { labels: { 'app.kubernetes.io/managed-by': 'helm' } } } },
            },
          ],
        },
      },
    ],
  ])('%s', (_title, spec) => {
    expect(problemsOf(spec)).toEqual([]);
  });
});

describe('refused policies', () => {
  it.each<readonly [string, unknown, string]>([
    [
      'a prefix that is too long',
      { namespaces: { immutable: { labels: [`${'a'.repeat(254)}/b`] } } },
      'accepted: a key with at most 253 characters before the slash',
    ],
    [
      'a name in a key that is too long',
      { namespaces: { immutable: { labels: ['a'.repeat(64)] } } },
      'accepted: a key such as team or example.com/team',
    ],
    [
      'a default label that is too long',
      { namespaces: { defaults: { labels: { a: 'a'.repeat(64) } } } },
      'or a template with ${ }',
    ],
    [
      'a default that could become our mark',
      {
        secrets: {
          defaults: { labels: { 'app.kubernetes.io/managed-by': '${namespaceObject.metadata.name}' } },
        },
      },
      'must not set app.kubernetes.io/managed-by to reeve or to a template',
    ],
    [
      'an expression of 4097 characters',
      { validations: [{ name: 'x', expression: 'x'.repeat(4097) }] },
      'spec.validations[0].expression: found 4097 characters; accepted: at most 4096 characters',
    ],
    [
      '65 required labels',
      {
        namespaces: {
          required: { labels: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`l${i}`, {}])) },
        },
      },
      'accepted: a map of at most 64 keys',
    ],
    [
      '101 names',
      { match: { names: Array(101).fill('a') } },
      'found a list of 101; accepted: a list of 1 to 100',
    ],
    [
      'a rule that is none',
      { exceptions: [{ namespaces: ['a'], rules: ['rbac'] }] },
      `found "rbac"; accepted: one of ${rulesText} or validations/<name>`,
    ],
    [
      'a mark deep in a CronJob',
      {
        contents: {
          resources: [
            {
              apiVersion: 'batch/v1',
              kind: 'CronJob',
              metadata: { name: 'x' },
              spec: {
                jobTemplate: {
                  spec: { template: { metadata: { labels: { 'app.kubernetes.io/managed-by': '${x}' } } } },
                },
              },
            },
          ],
        },
      },
      'spec.jobTemplate.spec.template.metadata.labels["app.kubernetes.io/managed-by"]',
    ],
    [
      'a resource with a label that names a share',
      {
        contents: {
          resources: [
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'x', labels: { 'reeve.dev/secretshare': 'y' } },
            },
          ],
        },
      },
      'spec.contents.resources[0].metadata.labels["reeve.dev/secretshare"]',
    ],
    [
      'a label that names a policy in a pod template',
      {
        contents: {
          resources: [
            {
              apiVersion: 'a.io/v1',
              kind: 'B',
              metadata: { name: 'x' },
              spec: { template: { metadata: { labels: { 'reeve.dev/namespacepolicy': '${x}' } } } },
            },
          ],
        },
      },
      'spec.contents.resources[0].spec.template.metadata.labels["reeve.dev/namespacepolicy"]',
    ],
    [
      'an annotation that only Reeve sets',
      {
        contents: {
          resources: [
            {
              apiVersion: 'a.io/v1',
              kind: 'B',
              metadata: { name: 'x', annotations: { 'reeve.dev/adopted': 'true' } },
            },
          ],
        },
      },
      'spec.contents.resources[0].metadata.annotations["reeve.dev/adopted"]',
    ],
    [
      'a mark in a list of templates',
      {
        contents: {
          resources: [
            {
              apiVersion: 'a.io/v1',
              kind: 'B',
              metadata: { name: 'x' },
              spec: {
                pools: [{ template: { metadata: { labels: { 'app.kubernetes.io/managed-by': 'reeve' } } } }],
              },
            },
          ],
        },
      },
      'spec.contents.resources[0].spec.pools[0].template.metadata.labels["app.kubernetes.io/managed-by"]',
    ],
    ...[{ finalizers: ['a.io/b'] }, { ownerReferences: [] }, { generateName: 'y-' }].map(
      (more): readonly [string, object, string] => [
        `a resource with ${Object.keys(more).join()}`,
        {
          contents: {
            resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...more } }],
          },
        },
        `spec.contents.resources[0].metadata.${Object.keys(more).join()}: found`,
      ],
    ),
    [
      'a Service',
      { contents: { resources: [{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' } }] } },
      'spec.contents.resources[0].kind: found "Service"',
    ],
    [
      'a resource that is too deep',
      {
        contents: {
          resources: [
            {
              apiVersion: 'a.io/v1',
              kind: 'B',
              metadata: { name: 'x' },
              spec: JSON.parse('['.repeat(500) + ']'.repeat(500)) as unknown,
            },
          ],
        },
      },
      'found deeper nesting; accepted: at most 64 levels',
    ],
    [
      'two bindings of a name',
      { contents: { roleBindings: [binding, binding] } },
      'spec.contents.roleBindings[1].name: found "x" a second time; accepted: unique values; [0] has the same one',
    ],
  ])('%s', (_title, spec, part) => {
    const problems = problemsOf(spec);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(part);
  });
});

test('fields with a default are never undefined in the type', () => {
  expectTypeOf<NamespacePolicySpec['validationActions']>().toEqualTypeOf<readonly ValidationAction[]>();
  expectTypeOf<NamespacePolicySpec['existing']>().toEqualTypeOf<'Report' | 'Repair'>();
  expectTypeOf<NamespacePolicySpec['maxDeletions']>().toEqualTypeOf<number>();
  expectTypeOf<PolicyException['namespaces']>().toEqualTypeOf<readonly string[]>();
  expectTypeOf<DefaultsSpec['labels']>().toEqualTypeOf<Readonly<Record<string, string>> | undefined>();
});
