import { describe, expect, test } from 'vitest';
import { EventSummary } from '../../../src/reconcile/events.ts';

type Happening = Parameters<EventSummary['add']>[0];

const created = { type: 'Normal', reason: 'Created', action: 'Create' } as const;
const deleted = { type: 'Normal', reason: 'Deleted', action: 'Delete' } as const;
const refused = { type: 'Warning', reason: 'AlreadyExists', action: 'Reconcile' } as const;
const binding = { kind: 'RoleBinding', name: 'viewers' };
const quota = { kind: 'ResourceQuota', name: 'team' };
const policy = { kind: 'NetworkPolicy', name: 'deny' };

function summaryOf(happenings: readonly Happening[]): EventSummary {
  const summary = new EventSummary();
  for (const happening of happenings) summary.add(happening);
  return summary;
}

describe('the events about a provider', () => {
  test.each<readonly [string, readonly Happening[]]>([
    ['Created RoleBinding viewers in namespace a', [{ ...created, ...binding, namespace: 'a' }]],
    [
      'Created 2 NetworkPolicies, 1 ResourceQuota in 2 namespaces',
      [
        { ...created, ...policy, namespace: 'b' },
        { ...created, ...policy, namespace: 'a' },
        { ...created, ...quota, namespace: 'a' },
      ],
    ],
    [
      'Deleted RoleBinding viewers in namespace a: expired',
      [{ ...deleted, ...binding, namespace: 'a', message: 'expired' }],
    ],
    [
      'RoleBinding viewers in namespace a: in the way',
      [{ ...refused, ...binding, namespace: 'a', message: 'in the way' }],
    ],
    [
      '2 RoleBindings in 2 namespaces; first RoleBinding viewers in namespace a: in the way',
      [
        { ...refused, ...binding, namespace: 'b', message: 'b' },
        { ...refused, ...binding, namespace: 'a', message: 'in the way' },
      ],
    ],
    ['namespace a: no such key', [{ ...refused, namespace: 'a', message: 'no such key' }]],
    [
      '2 namespaces; first namespace a: no such key',
      ['b', 'a'].map((namespace) => ({ ...refused, namespace, message: 'no such key' })),
    ],
  ])('the note is: %s', (note, happenings) => {
    expect(summaryOf(happenings).ofProvider()).toMatchObject([{ note }]);
  });

  test('each reason is an event of its own, and only an event about one object links to it', () => {
    const object = { apiVersion: 'v1', kind: 'Secret', namespace: 'a', name: 's' };
    const about = { kind: 'Secret', name: 's', namespace: 'a', object };
    const events = summaryOf([
      { ...created, ...about },
      { ...deleted, ...about },
      { ...deleted, ...about, namespace: 'b' },
    ]).ofProvider();
    expect(events).toEqual([
      { ...created, note: 'Created Secret s in namespace a', object },
      { ...deleted, note: 'Deleted 2 Secrets in 2 namespaces', object: undefined },
    ]);
  });
});

describe('the events about a namespace', () => {
  const four = ['a', 'b', 'c', 'd'].map((name) => ({ ...created, kind: 'Secret', name, namespace: 'n' }));
  test.each<readonly [string, readonly Happening[]]>([
    [
      'Created RoleBinding viewers, ResourceQuota team for NamespacePolicy/p',
      [
        { ...created, ...binding, namespace: 'a' },
        { ...created, ...quota, namespace: 'a' },
      ],
    ],
    ['Created Secret a, Secret b, Secret c and 1 more for NamespacePolicy/p', four],
    [
      'RoleBinding viewers of NamespacePolicy/p: in the way',
      [{ ...refused, ...binding, namespace: 'a', message: 'in the way' }],
    ],
    ['NamespacePolicy/p: no such key', [{ ...refused, namespace: 'a', message: 'no such key' }]],
  ])('the note is: %s', (note, happenings) => {
    expect(summaryOf(happenings).ofNamespace('NamespacePolicy/p')).toMatchObject([{ note }]);
  });
});
