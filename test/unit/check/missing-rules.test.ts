// How rights that an account lacks become rules of a role: few of them, and never more rights than were lacking.
import { expect, test } from 'vitest';
import { missingRules } from '../../../src/check/missing-rules.ts';

const namespaces = { group: '', resource: 'namespaces' };
const pods = { group: '', resource: 'pods', namespace: 'reeve-system' };
const listPods = { apiGroups: [''], resources: ['pods'], verbs: ['list'] };
const lease = { group: 'coordination.k8s.io', resource: 'leases', verb: 'get' };

test.each([
  [
    'verbs of one resource are one rule, each verb once',
    ['get', 'list', 'get'].map((verb) => ({ ...namespaces, verb })),
    [{ rule: { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list'] } }],
  ],
  [
    'resources with the same verbs are one rule',
    ['namespaces', 'serviceaccounts'].map((resource) => ({ group: '', resource, verb: 'list' })),
    [{ rule: { apiGroups: [''], resources: ['namespaces', 'serviceaccounts'], verbs: ['list'] } }],
  ],
  [
    'names with the same verbs are one rule, and a right to all names stays another',
    [
      { ...lease, name: 'a' },
      { ...lease, name: 'b' },
      { ...lease, verb: 'list' },
    ],
    [
      {
        rule: { apiGroups: [lease.group], resources: ['leases'], resourceNames: ['a', 'b'], verbs: ['get'] },
      },
      { rule: { apiGroups: [lease.group], resources: ['leases'], verbs: ['list'] } },
    ],
  ],
  [
    'a right to one name does not narrow the same right to all names',
    [{ ...lease, name: 'a' }, lease],
    [
      { rule: { apiGroups: [lease.group], resources: ['leases'], resourceNames: ['a'], verbs: ['get'] } },
      { rule: { apiGroups: [lease.group], resources: ['leases'], verbs: ['get'] } },
    ],
  ],
  [
    'rights with different verbs, groups, namespaces or users are not joined',
    [
      { ...pods, verb: 'list' },
      { ...pods, verb: 'get', subresource: 'proxy' },
      { ...pods, verb: 'list', namespace: 'other' },
      { ...pods, verb: 'list', user: 'bob' },
    ],
    [
      { namespace: 'reeve-system', rule: listPods },
      { namespace: 'reeve-system', rule: { apiGroups: [''], resources: ['pods/proxy'], verbs: ['get'] } },
      { namespace: 'other', rule: listPods },
      { user: 'bob', namespace: 'reeve-system', rule: listPods },
    ],
  ],
])('%s', (_, lacked, rules) => {
  expect(missingRules(lacked)).toEqual(rules);
});
