// What `reeve check` says of each part of an install that does not work, and that it says nothing of a part that works.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import {
  costDetails,
  deploymentProblems,
  kindProblems,
  leaseProblems,
  protectionProblems,
  providerProblems,
  webhookProblems,
} from '../../../src/check/findings.ts';
import { issueCertificates } from '../../../src/certs/issue/issue.ts';
import { checkText } from '../../../src/cli/commands/check-install.ts';
import { protections } from '../../../src/reconcile/guard-monitor.ts';

const now = new Date('2026-11-22T12:00:00Z');
const later = new Date('2027-11-22T12:00:00Z');

function object(kind: string, name: string, rest: object = {}): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name, uid: 'u', resourceVersion: '1' }, ...rest };
}

const condition = (type: string, status: string, reason = 'R'): object => ({
  status: { conditions: [{ type, status, reason }] },
});

test('a kind that is served is fine', () => {
  expect(
    kindProblems('k', object('CustomResourceDefinition', 'k', condition('Established', 'True'))),
  ).toEqual([]);
});

test('a kind that is missing or not served yet is a problem', () => {
  expect(kindProblems('k', undefined)).toEqual([
    'CustomResourceDefinition k is missing: apply the kinds again',
  ]);
  expect(kindProblems('k', object('CustomResourceDefinition', 'k'))).toEqual([
    'the API server does not serve k yet',
  ]);
});

describe('the guard', () => {
  const [guard] = protections;
  if (guard === undefined) throw new Error('there is no guard');
  const policy = object('ValidatingAdmissionPolicy', guard.policy, { spec: { failurePolicy: 'Fail' } });
  const bindingOf = (action: string): KubeObject =>
    object('B', guard.binding, { spec: { policyName: guard.policy, validationActions: [action] } });

  test('the guard that denies is fine', () => {
    expect(protectionProblems(guard, { policy, binding: bindingOf('Deny') })).toEqual([]);
  });

  test.each([
    ['without its policy', { policy: undefined, binding: bindingOf('Deny') }],
    ['without its binding', { policy, binding: undefined }],
    ['that only warns', { policy, binding: bindingOf('Warn') }],
  ] as const)('%s is a problem', (_, found) => {
    expect(protectionProblems(guard, found)).toEqual([
      'reeve-guard with binding reeve-guard is missing or does not deny, so other users can change what Reeve keeps, or set its labels: apply the install again',
    ]);
  });
});

const deployment = (status: object): KubeObject => ({
  ...object('Deployment', 'reeve-webhook', { spec: { replicas: 2 }, status }),
  metadata: { name: 'reeve-webhook', uid: 'u', resourceVersion: '1', generation: 3 },
});
const few =
  'Deployment reeve-webhook has 1 of 2 replicas of its present version available: see its Pods and events';

test.each([
  ['all replicas available', { availableReplicas: 2, updatedReplicas: 2, observedGeneration: 3 }, []],
  ['one replica missing', { availableReplicas: 1, updatedReplicas: 2, observedGeneration: 3 }, [few]],
  [
    'a change that is not observed yet',
    { availableReplicas: 2, updatedReplicas: 2, observedGeneration: 2 },
    [few.replace('1', '2')],
  ],
  [
    'one replica of the version before',
    { availableReplicas: 3, updatedReplicas: 1, observedGeneration: 3 },
    [few],
  ],
] as const)('the Deployments are judged with %s', (_, status, problems) => {
  expect(deploymentProblems([deployment(status)])).toEqual(problems);
});

test('the Deployments that are all missing are a problem', () => {
  expect(deploymentProblems([])).toEqual([
    'no Deployment of Reeve is in the namespace: check --install-namespace',
  ]);
});

describe('the webhook configurations', async () => {
  const lifetimes = { caLifetimeDays: 30, leafLifetimeDays: 30 };
  const { ca } = await issueCertificates({ namespace: 'reeve-system', now, ...lifetimes });
  const expected = { namespace: 'reeve-system', version: '1.2.3', now };
  const caBundle = Buffer.from(ca.certPem).toString('base64');

  function configuration(version: string, clientConfig: object): KubeObject {
    const webhooks = [
      { name: 'w', clientConfig: { service: { namespace: 'reeve-system' }, ...clientConfig } },
    ];
    return {
      ...object('V', 'reeve', { webhooks }),
      metadata: {
        name: 'reeve',
        uid: 'u',
        resourceVersion: '1',
        annotations: { 'reeve.dev/version': version },
      },
    };
  }

  const cases: readonly (readonly [string, KubeObject | undefined, Date, readonly string[]])[] = [
    ['that lead here with a valid authority are fine', configuration('1.2.3', { caBundle }), now, []],
    [
      'that are missing are a problem',
      undefined,
      now,
      ['V reeve is missing, so nothing is reviewed: see the log of the webhook'],
    ],
    [
      'of another version are a problem',
      configuration('1.2.2', { caBundle }),
      now,
      ['V reeve is of version 1.2.2, and this program of 1.2.3'],
    ],
    [
      'that lead elsewhere are a problem',
      configuration('1.2.3', { service: { namespace: 'other' }, caBundle }),
      now,
      ['webhook w leads to namespace other'],
    ],
    [
      'without an authority are a problem',
      configuration('1.2.3', {}),
      now,
      ['webhook w has no authority, so API servers cannot call it'],
    ],
    [
      'with an expired authority are a problem',
      configuration('1.2.3', { caBundle }),
      later,
      ['webhook w has no authority that is valid now, so API servers cannot call it'],
    ],
  ];

  test.each(cases)('%s', (_, found, at, problems) => {
    expect(webhookProblems('V', found, { ...expected, now: at })).toEqual(problems);
  });
});

describe('a Lease', () => {
  const lease = (holderIdentity: string, renewTime: string): KubeObject =>
    object('Lease', 'l', { spec: { holderIdentity, renewTime, leaseDurationSeconds: 15 } });
  const lost = ['no replica holds Lease l, so none writes: see the log of l'];

  test.each([
    ['that is held is fine', lease('me', '2026-11-22T11:59:50.000000Z'), []],
    ['that was renewed an hour ago is a problem', lease('me', '2026-11-22T11:00:00.000000Z'), lost],
    ['that is free is a problem', lease('', '2026-11-22T11:59:50.000000Z'), lost],
    ['that is missing is a problem', undefined, lost],
  ] as const)('%s', (_, found, problems) => {
    expect(leaseProblems('l', found, now)).toEqual(problems);
  });
});

test('a policy, share or binding that is not ready is a problem with its reason', () => {
  const found = [
    object('P', 'fine', condition('Ready', 'True')),
    object('P', 'bad', condition('Ready', 'False', 'Conflicts')),
    object('P', 'new'),
  ];
  expect(providerProblems('NamespacePolicy', found)).toEqual([
    'NamespacePolicy bad is not ready (Conflicts): see kubectl describe namespacepolicy bad',
    'NamespacePolicy new is not ready (it has no status yet): see kubectl describe namespacepolicy new',
  ]);
  const tenant = object('SecurityIntentBinding', 'bad', condition('Ready', 'False', 'Unsupported'));
  const inShop = { ...tenant, metadata: { ...tenant.metadata, namespace: 'shop' } };
  expect(providerProblems('SecurityIntentBinding', [inShop])).toEqual([
    'SecurityIntentBinding shop/bad is not ready (Unsupported): see kubectl describe securityintentbinding bad -n shop',
  ]);
});

test('a policy or binding that costs too much is named with its cost, and is no problem', () => {
  const expensive = {
    type: 'Expensive',
    status: 'True',
    reason: 'CostsTooMuch',
    message: 'this binding costs a lot',
    lastTransitionTime: '2026-11-22T12:00:00Z',
  };
  const tenant = object('SecurityIntentBinding', 'dear', { status: { conditions: [expensive] } });
  const inShop = { ...tenant, metadata: { ...tenant.metadata, namespace: 'shop' } };
  expect(costDetails('SecurityIntentBinding', [object('P', 'new'), inShop])).toEqual([
    'SecurityIntentBinding shop/dear: this binding costs a lot',
  ]);
});

test('the output names each part, and its last line says whether Reeve works', () => {
  const nothing = { problems: [], unseen: [], details: [], missingRules: [] };
  expect(checkText([{ ...nothing, part: 'kinds' }])).toBe('ok: kinds\nReeve works.\n');
  expect(checkText([{ ...nothing, part: 'kinds', problems: ['p'] }])).toBe(
    'problem: kinds: p\nReeve does not work completely: kinds (see above).\n',
  );
  const unseen = { ...nothing, part: 'kinds', unseen: ['u'] };
  expect(checkText([unseen])).toBe(
    'unseen: kinds: u\nThis account sees too little of Reeve to say whether it works: see above.\n',
  );
  expect(checkText([{ ...nothing, part: 'Leases' }, unseen])).toBe(
    'ok: Leases\nunseen: kinds: u\nReeve works, apart from what is unseen.\n',
  );
});
