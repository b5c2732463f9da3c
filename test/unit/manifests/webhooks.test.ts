// What the shipped webhook configurations promise, as far as the files alone can say it.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemNamespaces } from '../../../src/schema/names.ts';
import { manifestObject, manifestObjects } from '../../support/manifest-files.ts';

interface Webhook {
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly failurePolicy: string;
  readonly timeoutSeconds: number;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly namespaceSelector?: { readonly matchExpressions: readonly object[] };
  readonly [field: string]: unknown;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly string[];
}

const validating = manifestObject('webhooks/validating.yaml')['webhooks'] as readonly Webhook[];
const mutating = manifestObject('webhooks/mutating.yaml')['webhooks'] as readonly Webhook[];
const guard = manifestObjects('install').find(({ kind }) => kind === 'ValidatingAdmissionPolicy');

describe.each([...validating, ...mutating])('$name', (webhook) => {
  it('the webhook has no side effects, a short timeout, and matches every version', () => {
    expect(webhook).toMatchObject({
      sideEffects: 'None',
      matchPolicy: 'Equivalent',
      admissionReviewVersions: ['v1'],
    });
    expect(webhook.timeoutSeconds).toBeLessThanOrEqual(5);
  });

  it('the rules name every resource, and never webhook configurations', () => {
    const { rules } = webhook;
    expect(
      rules.flatMap(({ apiGroups, resources, operations }) => [...apiGroups, ...resources, ...operations]),
    ).not.toContain('*');
    expect(rules.flatMap(({ apiGroups }) => apiGroups)).not.toContain('admissionregistration.k8s.io');
  });

  it('the namespaces of Kubernetes and of Reeve are excluded by name only', () => {
    if (webhook.rules.some(({ apiGroups }) => apiGroups.includes('reeve.dev'))) {
      expect(webhook.namespaceSelector).toBeUndefined();
      return;
    }
    expect(webhook.namespaceSelector?.matchExpressions).toEqual([
      {
        key: 'kubernetes.io/metadata.name',
        operator: 'NotIn',
        values: [...systemNamespaces, 'reeve-system', 'reeve-shared'],
      },
    ]);
    expect(webhook).not.toHaveProperty('objectSelector');
  });

  it('the match conditions for Reeve and for emergencies are those of the guard', () => {
    const { matchConditions } = (guard?.object ?? {})['spec'] as Pick<Webhook, 'matchConditions'>;
    const shared = webhook.matchConditions.filter(({ name }) => ['not-reeve', 'no-emergency'].includes(name));
    expect(matchConditions).toEqual(expect.arrayContaining([...shared]));
    expect(shared.map(({ name }) => name)).toContain('no-emergency');
  });
});

describe('together', () => {
  it("an unavailable webhook blocks only writes of Namespaces and of Reeve's own kinds", () => {
    const failing = [...validating, ...mutating].filter(({ failurePolicy }) => failurePolicy === 'Fail');
    expect(failing.map(({ name }) => name)).toEqual([
      'namespaces.validate.reeve.dev',
      'namespacepolicies.validate.reeve.dev',
      'secretshares.validate.reeve.dev',
      'configmapshares.validate.reeve.dev',
      'securityintents.validate.reeve.dev',
      'clustersecurityintentbindings.validate.reeve.dev',
      'securityintentbindings.validate.reeve.dev',
      'namespaceclaims.validate.reeve.dev',
    ]);
  });

  it('the mutating webhooks are called again after other mutations', () => {
    expect(mutating.map(({ reinvocationPolicy }) => reinvocationPolicy)).toEqual(
      mutating.map(() => 'IfNeeded'),
    );
  });

  it('the rules match every way to write the labels of a Namespace', () => {
    const rules = validating[0]?.rules.map(({ resources, operations }) => ({ resources, operations }));
    expect(rules).toEqual([
      { resources: ['namespaces'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
      { resources: ['namespaces/status', 'namespaces/finalize'], operations: ['UPDATE'] },
    ]);
  });

  it.each(['validating', 'mutating'])('the version annotation is that of this version: %s', (which) => {
    const { metadata } = manifestObject(`webhooks/${which}.yaml`) as { metadata?: { annotations?: object } };
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
    expect(metadata?.annotations).toEqual({ 'reeve.dev/version': version });
  });
});
