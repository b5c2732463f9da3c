// What the jail and the roles beside it promise, as far as the files alone can say it: above all that they agree.
import { describe, expect, it, test } from 'vitest';
import { runSettings } from '../../../src/cli/commands/run.ts';
import { systemNamespaces } from '../../../src/schema/names.ts';
import { uncopiedTypes } from '../../../src/api/secret-share/target.ts';
import { whyNotEvaluated } from '../../../src/sandbox/admission/expressions.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { manifestObject, manifestObjects, type ManifestObject } from '../../support/manifest-files.ts';

interface PolicySpec {
  readonly matchConditions: readonly unknown[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly {
    readonly reason: string;
    readonly message?: string;
    readonly messageExpression?: string;
  }[];
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const install = manifestObjects('install');

function named(kind: string, name: string, among: readonly ManifestObject[] = install): KubeObject {
  const found = among.find((each) => each.kind === kind && each.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found.object as KubeObject;
}

const rulesOf = (object: KubeObject): readonly Rule[] => object['rules'] as readonly Rule[];
const jail = named('ValidatingAdmissionPolicy', 'reeve-jail');
const ownerJail = named('ValidatingAdmissionPolicy', 'reeve-jail-owner');
const spec = jail['spec'] as PolicySpec;

/** JSON is CEL. */
function listIn(variable: string): unknown {
  return JSON.parse(spec.variables.find(({ name }) => name === variable)?.expression ?? '');
}

interface Condition {
  readonly name: string;
  readonly expression: string;
}

function conditionsIn(file: string): readonly Condition[] {
  const { webhooks } = manifestObject(file) as {
    webhooks: readonly { matchConditions?: readonly Condition[] }[];
  };
  return webhooks.flatMap(({ matchConditions = [] }) => matchConditions);
}

describe('the jail', () => {
  it('the jail matches every write of the two accounts, and refuses a write that it cannot evaluate', () => {
    const everything = {
      apiGroups: ['*'],
      apiVersions: ['*'],
      resources: ['*/*'],
      operations: ['*'],
      scope: '*',
    };
    expect(spec).toMatchObject({
      failurePolicy: 'Fail',
      matchConstraints: { matchPolicy: 'Equivalent', resourceRules: [everything] },
      matchConditions: [
        {
          expression:
            'request.userInfo.username in ["system:serviceaccount:reeve-system:reeve-webhook", "system:serviceaccount:reeve-system:reeve-reconciler"]',
        },
      ],
    });
    expect(named('ValidatingAdmissionPolicyBinding', 'reeve-jail')['spec']).toEqual({
      policyName: 'reeve-jail',
      validationActions: ['Deny'],
    });
  });

  it('the sandbox can evaluate the jail and the policy on the owners of webhook configurations', () => {
    expect(whyNotEvaluated(jail)).toBeUndefined();
    expect(whyNotEvaluated(ownerJail)).toBeUndefined();
  });

  it('the owner of webhook configurations is judged for the same accounts, by the role that lets them write', () => {
    const { matchConditions } = spec;
    expect(ownerJail['spec']).toMatchObject({ failurePolicy: 'Fail', matchConditions });
    const { paramRef, ...binding } = named('ValidatingAdmissionPolicyBinding', 'reeve-jail-owner')[
      'spec'
    ] as { readonly paramRef: { readonly name: string } };
    expect(binding).toEqual({ policyName: 'reeve-jail-owner', validationActions: ['Deny'] });
    const writing = install.filter(({ object }) =>
      JSON.stringify(object['rules'] ?? '').includes('validatingwebhookconfigurations'),
    );
    expect(writing.map(({ kind, name }) => [kind, name])).toEqual([['ClusterRole', paramRef.name]]);
  });

  it('the jail expects the default of --secrets-rbac-failure-policy', () => {
    expect(listIn('secretsAndRbac')).toBe(runSettings.secretsRbacFailurePolicy.fallback?.value);
  });

  it('every refusal has a message of its own that names Reeve', () => {
    for (const { reason, message, messageExpression } of spec.validations) {
      expect(reason).toBe('Forbidden');
      expect(message ?? messageExpression).toContain('Reeve');
    }
  });

  it('the jail lists the same ClusterRoles as the role of the reconciler', () => {
    const [rule] = rulesOf(named('ClusterRole', 'reeve-reconciler-bind'));
    expect(rule?.verbs).toEqual(['bind']);
    expect(listIn('bindableRoles')).toEqual(rule?.resourceNames);
  });

  it('the jail has the version of the webhook configurations', () => {
    for (const file of ['validating.yaml', 'mutating.yaml'])
      expect(manifestObject(`webhooks/${file}`)).toMatchObject({
        metadata: { annotations: { 'reeve.dev/version': listIn('version') } },
      });
  });

  it('the jail excludes the same namespaces as the webhooks', () => {
    const own = install.filter(({ kind }) => kind === 'Namespace').map(({ name }) => name);
    expect(listIn('excludedNamespaces')).toEqual([...systemNamespaces, ...own]);
    for (const file of ['validating.yaml', 'mutating.yaml']) {
      expect(JSON.stringify(manifestObject(`webhooks/${file}`))).toContain(
        JSON.stringify(listIn('excludedNamespaces')),
      );
    }
  });

  it('the jail has the same conditions for emergencies and deletions as the guard', () => {
    const conditions = ['validating', 'mutating'].flatMap((name) => conditionsIn(`webhooks/${name}.yaml`));
    for (const [name, variable] of [
      ['no-emergency', 'noEmergency'],
      ['not-ending', 'notEnding'],
      ['still-there', 'stillThere'],
      ['asks-for-something-else', 'asksForSomethingElse'],
    ]) {
      const expressions = conditions.filter((each) => each.name === name).map(({ expression }) => expression);
      const text = spec.variables.find((each) => each.name === variable)?.expression;
      expect(new Set(expressions.map((each) => `'${each}'`))).toEqual(new Set([text]));
    }
  });

  it('the jail lists the types of Secrets that are never copied', () => {
    expect(JSON.stringify(spec)).toContain(
      uncopiedTypes.map((type) => JSON.stringify(JSON.stringify(type)).slice(1, -1)).join(', '),
    );
  });
});

const objects = manifestObjects('named-secrets');

test('the named rights replace the rights on all Secrets', () => {
  const instead = install.filter(({ file }) => file.endsWith('/22-reconciler-secrets.yaml'));
  for (const { kind, name } of instead) expect(named(kind, name, objects)).toBeDefined();
  expect(new Set(objects.map(({ file }) => file.split('/').at(-1)))).toEqual(
    new Set(['22-reconciler-secrets.yaml']),
  );
});

test('the rights name each written Secret, and sources can be read only in their namespace', () => {
  const [everywhere, ...more] = rulesOf(named('ClusterRole', 'reeve-reconciler-secrets', objects));
  expect(more).toEqual([]);
  expect(everywhere?.resourceNames).toHaveLength(1);
  expect(everywhere?.verbs).toEqual(rulesOf(named('ClusterRole', 'reeve-reconciler-secrets'))[0]?.verbs);
  const sources = named('Role', 'reeve-reconciler-sources', objects);
  expect(sources.metadata.namespace).toBe('reeve-shared');
  expect(rulesOf(sources)).toEqual([
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
  ]);
});

test('the rights are bound to the reconciler', () => {
  const bindings = objects.filter(({ kind }) => kind.endsWith('Binding'));
  expect(bindings.map(({ object }) => object['subjects'])).toEqual([
    [{ kind: 'ServiceAccount', name: 'reeve-reconciler', namespace: 'reeve-system' }],
    [{ kind: 'ServiceAccount', name: 'reeve-reconciler', namespace: 'reeve-system' }],
  ]);
});
