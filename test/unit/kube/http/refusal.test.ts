// Why the API server refused a write, read from messages that Kubernetes 1.36 sends.
import { describe, expect, test } from 'vitest';
import type { Refusal } from '../../../../src/base/kube-error.ts';
import { refusalIn } from '../../../../src/kube/http/answers.ts';

const reeve = 'system:serviceaccount:reeve-system:reeve-reconciler';
const team = 'resourcequotas "team" is forbidden: ';

function causes(...list: readonly (readonly [reason: string, field: string, message: string])[]): object {
  return { causes: list.map(([reason, field, message]) => ({ reason, field, message })) };
}

describe('the cause of a refusal', () => {
  test.each<readonly [title: string, message: string, expected: Refusal]>([
    [
      'a missing right',
      `${team}User "${reeve}" cannot patch resource "resourcequotas" in API group "" in the namespace "a"`,
      { by: 'rights', name: 'patch resourcequotas' },
    ],
    [
      'a missing right to a collection',
      `secrets is forbidden: User "${reeve}" cannot create resource "secrets" in API group "" in the namespace "a"`,
      { by: 'rights', name: 'create secrets' },
    ],
    [
      'a role that Reeve may not bind',
      `rolebindings.rbac.authorization.k8s.io "x" is forbidden: user "${reeve}" (groups=["system:serviceaccounts"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:["*"]}`,
      { by: 'escalation' },
    ],
    [
      'a ClusterRole that does not exist',
      'rolebindings.rbac.authorization.k8s.io "eddit" not found',
      { by: 'role', name: 'eddit' },
    ],
    [
      'a ValidatingAdmissionPolicy',
      `${team}ValidatingAdmissionPolicy 'quota-limits' with binding 'all' denied request: at most 5 pods`,
      { by: 'policy', name: 'quota-limits', text: 'at most 5 pods' },
    ],
    [
      'a webhook',
      'admission webhook "policies.example.com" denied the request: first\n\nsecond\u202e',
      { by: 'webhook', name: 'policies.example.com', text: 'first second\uFFFD' },
    ],
    [
      'a webhook without a reason',
      'admission webhook "policies.example.com" denied the request without explanation',
      { by: 'webhook', name: 'policies.example.com' },
    ],
    [
      'a webhook that speaks of a ValidatingAdmissionPolicy',
      `admission webhook "w.example.com" denied the request: ${team}ValidatingAdmissionPolicy 'p' with binding 'b' denied request: x`,
      {
        by: 'webhook',
        name: 'w.example.com',
        text: `${team}ValidatingAdmissionPolicy 'p' with binding 'b' denied request: x`,
      },
    ],
    [
      'a ResourceQuota that is used up',
      'configmaps "x" is forbidden: exceeded quota: small, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2',
      {
        by: 'quota',
        name: 'small',
        text: 'requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2',
      },
    ],
    [
      'a ResourceQuota with other demands',
      'pods "x" is forbidden: failed quota: small: must specify limits.cpu for: app',
      { by: 'quota', name: 'small', text: 'must specify limits.cpu for: app' },
    ],
    [
      'Pod Security',
      'pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true (pod must not)',
      { by: 'podSecurity', name: 'restricted:latest', text: 'runAsNonRoot != true (pod must not)' },
    ],
    [
      'no known cause',
      'pods "x" is forbidden: error looking up service account a/default: not found',
      { by: 'unknown', text: 'error looking up service account a/default: not found' },
    ],
  ])('the cause of a refusal is named: %s', (_title, message, expected) => {
    expect(refusalIn({ message }, false)).toEqual(expected);
  });

  test('invalid fields are listed, at most three', () => {
    const invalid = causes(
      ['FieldValueInvalid', 'spec.hard[pods]', 'Invalid value: "x": must be a quantity'],
      ['FieldValueRequired', 'spec.a', 'Required value'],
      ['FieldValueRequired', 'spec.b', ''],
      ['FieldValueRequired', 'spec.c', 'Required value'],
      ['FieldValueRequired', 'spec.d', 'Required value'],
    );
    expect(refusalIn({ reason: 'Invalid', message: 'x is invalid', details: invalid }, false)).toEqual({
      by: 'fields',
      text: 'spec.hard[pods]: Invalid value: "x": must be a quantity; spec.a: Required value; spec.b is missing; and 2 more',
    });
  });

  test.each([undefined, null, 'text', [], { message: 5 }, { details: { causes: 'x' } }])(
    'an answer that is no Status has no known cause: %j',
    (status) => {
      expect(refusalIn(status, false)).toEqual({ by: 'unknown' });
    },
  );

  test('a long text is cut', () => {
    const message = `admission webhook "w" denied the request: ${'x'.repeat(10_000)}`;
    expect(refusalIn({ message }, false).text).toHaveLength(400);
  });
});

describe('a refusal of a Secret', () => {
  const canary = 'c2VjcmV0LWNhbmFyeQ';

  test('the missing keys are named, and no value', () => {
    const invalid = causes(
      ['FieldValueRequired', 'data[tls.key]', 'Required value'],
      ['FieldValueInvalid', 'data[.dockerconfigjson]', `Invalid value: "${canary}": invalid character`],
      ['FieldValueInvalid', `data[${canary} x]`, canary],
    );
    expect(refusalIn({ message: `Secret "x" is invalid: ${canary}`, details: invalid }, true)).toEqual({
      by: 'fields',
      text: 'data[tls.key] is missing; data[.dockerconfigjson] is invalid',
    });
  });

  test.each([
    `secrets "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${canary}`,
    `admission webhook "w.example.com" denied the request: ${canary}`,
    `secrets "x" is forbidden: violates PodSecurity "p": ${canary}`,
    `secrets "x" is forbidden: exceeded quota: q, requested: "${canary}"`,
    `secrets "x" is forbidden: ${canary}`,
    `failed to create typed patch object: ${canary}`,
  ])('no text that may quote it is passed on: %s', (message) => {
    expect(JSON.stringify(refusalIn({ message }, true))).not.toContain(canary);
  });

  test('a used up ResourceQuota is named with its numbers', () => {
    const message =
      'secrets "x" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=2, limited: secrets=2';
    expect(refusalIn({ message }, true)).toEqual({
      by: 'quota',
      name: 'q',
      text: 'requested: secrets=1, used: secrets=2, limited: secrets=2',
    });
  });
});
