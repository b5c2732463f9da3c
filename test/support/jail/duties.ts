// Requests that Reeve's accounts need for their work, so neither RBAC nor the jail may refuse them.
import { at } from '../../contract/support/objects.ts';
import {
  apply,
  bindingOf,
  configMapOf,
  eventOf,
  eventsIn,
  held,
  hookKinds,
  hooksOf,
  marked,
  markedBy,
  object,
  ofOwners,
  owned,
  ownerNamed,
  owningKinds,
  patch,
  post,
  remove,
  ruleOf,
  secretOf,
  type Account,
  type Sent,
} from './scene.ts';

export interface Duty {
  readonly what: string;
  readonly send: Sent;
  readonly by: readonly Account[];
}

type Row = readonly [what: string, send: Sent];

function of(by: readonly Account[], rows: readonly Row[]): readonly Duty[] {
  return rows.map(([what, send]) => ({ what, send, by }));
}

const accessReview = {
  spec: { user: 'ann', resourceAttributes: { group: 'reeve.dev', resource: 'secretshares', verb: 'use' } },
};

function reviewOf(kind: string, spec: object): Sent {
  const group = 'authorization.k8s.io/v1';
  return (api) => api.create(`/apis/${group}/${kind.toLowerCase()}s`, object(group, kind, '', spec));
}

function toNamespaces(team: string): readonly Row[] {
  const path = at('namespaces', '', team);
  const ready = {
    type: 'reeve.dev/Ready',
    status: 'True',
    reason: 'Synced',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const violated = { ...ready, type: 'reeve.dev/Compliant', status: 'False', reason: 'Violated' };
  return [
    ['add a label', patch('merge', path, { metadata: { labels: { env: 'dev' } } })],
    ['add an annotation', patch('merge', path, { metadata: { annotations: { env: 'dev' } } })],
    ...['a', 'a\nb'].map((text): Row => [
      `record what was created once: ${JSON.stringify(text)}`,
      patch('merge', path, { metadata: { annotations: { 'reeve.dev/created-once': text } } }),
    ]),
    [
      'say that it is ready',
      apply(`${path}/status`, object('v1', 'Namespace', team, { status: { conditions: [ready] } })),
    ],
    [
      'say that it violates a rule',
      apply(`${path}/status`, object('v1', 'Namespace', team, { status: { conditions: [ready, violated] } })),
    ],
    ['write an Event', post(eventsIn(team), eventOf('reeve.dev/reeve', team))],
  ];
}

function toContents(team: string): readonly Row[] {
  const ours = at('configmaps', team, 'ours');
  const offered = at('configmaps', team, 'offered');
  const account = at('serviceaccounts', team, 'default');
  const nothingOfOurs = {
    metadata: {
      labels: { 'app.kubernetes.io/managed-by': null, 'reeve.dev/namespacepolicy': null },
      annotations: { 'reeve.dev/owner': null },
    },
  };
  return [
    ...owningKinds.map((each): Row => [
      `create a ConfigMap for ${each.plural}`,
      apply(at('configmaps', team, 'new'), configMapOf('new', markedBy(ownerNamed(each, team, 'a.B_c')))),
    ]),
    [
      'hand an object over to the binding of its namespace',
      apply(ours, configMapOf('ours', markedBy(`SecurityIntentBinding/${team}/a`), { kept: 'yes' })),
    ],
    ['create a Secret', apply(at('secrets', team, 'new'), secretOf('new', marked))],
    ['grant a role', apply(at('rolebindings', team, 'new'), bindingOf('new'))],
    [
      'hand out a role to a service account',
      apply(
        at('rolebindings', team, 'new'),
        bindingOf('new', { kind: 'ServiceAccount', name: 'x', namespace: team }),
      ),
    ],
    [
      'hand out a role to the service accounts of the namespace itself',
      apply(
        at('rolebindings', team, 'new'),
        bindingOf('new', { kind: 'Group', name: `system:serviceaccounts:${team}` }),
      ),
    ],
    ['change a managed object', apply(ours, configMapOf('ours', marked, { a: 'b' }))],
    [
      'take its label from an object before it gives the object back',
      patch('merge', ours, { metadata: { labels: { 'reeve.dev/namespacepolicy': null } } }),
    ],
    ['release a managed object', patch('merge', ours, nothingOfOurs)],
    ['release a ServiceAccount', patch('merge', at('serviceaccounts', team, 'ours'), nothingOfOurs)],
    ['release a RoleBinding', patch('merge', at('rolebindings', team, 'ours'), nothingOfOurs)],
    ['delete a managed object', remove(ours)],
    ['end temporary access', remove(at('rolebindings', team, 'lent'))],
    ['adopt an offered object', apply(offered, configMapOf('offered', marked, { a: 'b' }))],
    ['replace an offered Secret', remove(at('secrets', team, 'offered'))],
    ['take back what was left behind', apply(at('configmaps', team, 'left'), configMapOf('left', marked))],
    ['replace a Secret that was left behind', remove(at('secrets', team, 'left'))],
    ['replace an adopted Secret', remove(at('secrets', team, 'adopted'))],
    ['give an adopted object back', patch('merge', at('configmaps', team, 'adopted'), nothingOfOurs)],
    ['delete an object adopted for good', remove(at('configmaps', team, 'given'))],
    [
      'add two fields to the ServiceAccount default, and say for which policy',
      apply(
        account,
        object('v1', 'ServiceAccount', 'default', {
          metadata: {
            name: 'default',
            annotations: { 'reeve.dev/fields': 'NamespacePolicy/p: imagePullSecrets/regcred' },
          },
          imagePullSecrets: [{ name: 'regcred' }],
          automountServiceAccountToken: false,
        }),
      ),
    ],
    [
      'take fields back from a ServiceAccount',
      patch('merge', at('serviceaccounts', team, 'theirs'), { automountServiceAccountToken: null }),
    ],
    [
      'take over an untouched ServiceAccount default',
      apply(account, {
        ...object('v1', 'ServiceAccount', 'default'),
        metadata: { name: 'default', ...marked },
      }),
    ],
  ];
}

function toProviders(team: string): readonly Row[] {
  return owningKinds.flatMap((each): readonly Row[] => {
    const { plural, kind } = each;
    const path = ofOwners(each, team, team);
    const status = { status: { observedGeneration: 1 } };
    const holding = (...finalizers: readonly string[]) => patch('merge', path, { metadata: { finalizers } });
    return [
      [`put its finalizer on ${plural}`, holding(held, 'reeve.dev/cleanup')],
      [`take its finalizer from ${plural}`, holding(held)],
      [
        `apply the status of ${plural}`,
        apply(`${path}/status`, object('reeve.dev/v1alpha1', kind, team, status)),
      ],
      [`patch the status of ${plural}`, patch('merge', `${path}/status`, status)],
    ];
  });
}

function leaseOf(name: string): Row {
  const lease = object('coordination.k8s.io/v1', 'Lease', name, { spec: { holderIdentity: 'me' } });
  return [`hold the Lease ${name}`, apply(at('leases', 'reeve-system', name), lease)];
}

function toHooks(): readonly Row[] {
  const rules = [
    ruleOf('', 'namespaces', 'namespaces/status', 'namespaces/finalize'),
    ruleOf('', 'secrets'),
    ruleOf('rbac.authorization.k8s.io', 'roles', 'rolebindings'),
    ruleOf('reeve.dev', 'securityintents', ...owningKinds.map(({ plural }) => plural)),
  ];
  const kinds = ruleOf('reeve.dev', 'namespacepolicies');
  const path = at('validatingwebhookconfigurations', '', 'reeve');
  const mutating = at('mutatingwebhookconfigurations', '', 'reeve');
  return [
    ['apply the validating configuration', apply(path, hooksOf({ rules }))],
    ['ask about its own kinds everywhere', apply(path, hooksOf({ rules: [kinds], namespaceSelector: {} }))],
    [
      'apply the mutating configuration',
      apply(mutating, hooksOf({}, 'reeve', 'MutatingWebhookConfiguration')),
    ],
    ...hookKinds.map(({ path: all, kind }): Row => [
      `give its ${kind} to the ClusterRole of the install`,
      async (api) => {
        const labels = { 'app.kubernetes.io/part-of': 'reeve' };
        const annotations = { 'reeve.dev/version': '0.1.0', 'reeve.dev/sealed': 'x' };
        const body = hooksOf({}, 'reeve', kind);
        const metadata = { ...body.metadata, labels, annotations };
        return await apply(`${all}/reeve`, await owned(api, { ...body, metadata }))(api);
      },
    ]),
  ];
}

/** The reconciler may also do this, as long as the install grants all Secrets instead of named ones. */
const toAuthority: Row = [
  'write the authority',
  apply(at('secrets', 'reeve-system', 'reeve-webhook-ca'), secretOf('reeve-webhook-ca')),
];

export function duties(team: string): readonly Duty[] {
  return [
    ...of(
      ['webhook', 'reconciler'],
      [
        ['review its own rights', reviewOf('SelfSubjectRulesReview', { spec: { namespace: team } })],
        toAuthority,
      ],
    ),
    ...of(
      ['reconciler'],
      [...toNamespaces(team), ...toContents(team), ...toProviders(team), leaseOf('reeve-reconciler')],
    ),
    ...of(
      ['webhook'],
      [
        ['review the rights of other users', reviewOf('SubjectAccessReview', accessReview)],
        leaseOf('reeve-webhook'),
        ...toHooks(),
      ],
    ),
  ];
}
