// What the shipped webhook configurations promise, as far as the files alone can say it.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemNamespaces } from '../../../src/api/names.ts';
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
  it('has no side effects, is quick, and hears of every version', () => {
    expect(webhook).toMatchObject({
      sideEffects: 'None',
      matchPolicy: 'Equivalent',
      admissionReviewVersions: ['v1'],
    });
    expect(webhook.timeoutSeconds).toBeLessThanOrEqual(5);
  });

  it('names what it asks about, and never its own configuration', () => {
    const { rules } = webhook;
    expect(
      rules.flatMap(({ apiGroups, resources, operations }) => [...apiGroups, ...resources, ...operations]),
    ).not.toContain('*');
    expect(rules.flatMap(({ apiGroups }) => apiGroups)).not.toContain('admissionregistration.k8s.io');
  });

  it('leaves out the namespaces of Kubernetes and of Reeve by their names alone', () => {
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

  it('knows Reeve and the emergency as the guard does', () => {
    const { matchConditions } = (guard?.object ?? {})['spec'] as Pick<Webhook, 'matchConditions'>;
    const shared = webhook.matchConditions.filter(({ name }) => ['not-reeve', 'no-emergency'].includes(name));
    expect(matchConditions).toEqual(expect.arrayContaining([...shared]));
    expect(shared.map(({ name }) => name)).toContain('no-emergency');
  });
});

describe('together', () => {
  it('they refuse nothing by being away but what is about Namespaces, policies and shares', () => {
    const failing = [...validating, ...mutating].filter(({ failurePolicy }) => failurePolicy === 'Fail');
    expect(failing.map(({ name }) => name)).toEqual([
      'namespaces.validate.reeve.dev',
      'namespacepolicies.validate.reeve.dev',
      'secretshares.validate.reeve.dev',
    ]);
  });

  it('they are asked again after other mutations', () => {
    expect(mutating.map(({ reinvocationPolicy }) => reinvocationPolicy)).toEqual(['IfNeeded', 'IfNeeded']);
  });

  it('they see every way to write the labels of a Namespace', () => {
    const rules = validating[0]?.rules.map(({ resources, operations }) => ({ resources, operations }));
    expect(rules).toEqual([
      { resources: ['namespaces'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
      { resources: ['namespaces/status', 'namespaces/finalize'], operations: ['UPDATE'] },
    ]);
  });

  it.each(['validating', 'mutating'])('they say that this version has written them: %s', (which) => {
    const { metadata } = manifestObject(`webhooks/${which}.yaml`) as { metadata?: { annotations?: object } };
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
    expect(metadata?.annotations).toEqual({ 'reeve.dev/version': version });
  });
});

it('the image holds them beside the program, and runs as a number', () => {
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  expect(dockerfile).toContain('COPY manifests/webhooks ./manifests/webhooks');
  expect(dockerfile).toMatch(/^USER 65532:65532$/m);
  expect(dockerfile).toMatch(/^CMD \["run"\]$/m);
});
