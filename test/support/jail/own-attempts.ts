// What Reeve's accounts try on what Reeve itself needs: policies, Leases, Events, its authority and its webhook configurations.
import { at } from '../../contract/support/objects.ts';
import { both, neither, owners, reconciler, under, webhook, type Attempt } from './attempt.ts';
import {
  admission,
  apply,
  emergencies,
  endings,
  ownEndings,
  eventOf,
  eventsIn,
  hooksOf,
  marked,
  object,
  patch,
  post,
  remove,
  ruleOf,
  secretOf,
  service,
  type Sent,
} from './scene.ts';

export function ownAttempts(team: string): readonly Attempt[] {
  const policy = at('namespacepolicies', '', team);
  const spec = { match: { names: ['everybody'] } };
  const lease = (name: string, namespace: string) =>
    apply(at('leases', namespace, name), object('coordination.k8s.io/v1', 'Lease', name));
  const authority = at('secrets', 'reeve-system', 'reeve-webhook-ca');
  const oldEvent = {
    ...object('v1', 'Event', 'tried'),
    metadata: { name: 'tried', ...marked },
    involvedObject: { namespace: team },
  };
  return [
    ...under('of policies and shares', reconciler, [
      ['change a policy', patch('merge', policy, { spec })],
      [
        'change a policy by apply',
        apply(policy, object('reeve.dev/v1alpha1', 'NamespacePolicy', team, { spec }), 'me'),
      ],
      [
        'confirm deletions',
        patch('json', policy, [
          { op: 'add', path: '/metadata/annotations', value: { 'reeve.dev/confirm-deletions': '9' } },
        ]),
      ],
      ['label a policy', patch('merge', policy, { metadata: { labels: { a: 'b' } } })],
      ['give a policy an owner', patch('merge', policy, { metadata: owners })],
      ['hold a policy for others', patch('merge', policy, { metadata: { finalizers: ['test.dev/held'] } })],
      [
        'write a policy',
        post(
          at('namespacepolicies', ''),
          object('reeve.dev/v1alpha1', 'NamespacePolicy', `${team}-two`, { spec }),
        ),
        neither,
      ],
      ['delete a policy', remove(policy), neither],
    ]),
    ...under('of Leases', neither, [
      ['make a Lease of another name', lease('other', 'reeve-system')],
      ['make its Lease elsewhere', lease('reeve-reconciler', team)],
      ['hold a Lease of Kubernetes', lease('kube-scheduler', 'kube-system')],
      [
        'make a Lease by POST',
        post(at('leases', 'reeve-system'), object('coordination.k8s.io/v1', 'Lease', 'other')),
      ],
      ['delete its Lease', remove(at('leases', 'reeve-system', 'reeve-reconciler'))],
    ]),
    ...under('of Events', reconciler, [
      ['speak for another controller', post(eventsIn(team), eventOf('kubelet', team))],
      [
        'write Events in kube-system',
        post(eventsIn('kube-system'), eventOf('reeve.dev/reeve', 'kube-system')),
      ],
    ]),
    ...under('of the Secrets in reeve-system', reconciler, [
      [
        'write another Secret of Reeve',
        apply(at('secrets', 'reeve-system', 'other'), secretOf('other', marked)),
      ],
    ]),
    ...under('of the Secrets in reeve-system', webhook, [
      [
        'make its authority one that cannot be mended',
        apply(authority, secretOf('reeve-webhook-ca', {}, { immutable: true })),
        both,
      ],
    ]),
    ...under('Secrets that hold tokens', webhook, [
      [
        'make a token in the place of its authority',
        apply(
          authority,
          secretOf(
            'reeve-webhook-ca',
            { annotations: { 'kubernetes.io/service-account.name': 'reeve-reconciler' } },
            { type: 'kubernetes.io/service-account-token' },
          ),
        ),
        both,
      ],
    ]),
    ...under('Reeve never writes apiextensions.k8s.io/customresourcedefinitions', neither, [
      [
        'change a kind',
        patch('merge', at('customresourcedefinitions', '', 'secretshares.reeve.dev'), {
          metadata: { labels: { a: 'b' } },
        }),
      ],
    ]),
    ...under('Reeve never writes events', neither, [
      ['write an Event of the old kind', post(`/api/v1/namespaces/${team}/events`, oldEvent)],
    ]),
  ];
}

export function hookAttempts(): readonly Attempt[] {
  const path = at('validatingwebhookconfigurations', '', 'reeve');
  const mutating = at('mutatingwebhookconfigurations', '', 'reeve');
  const hooks = (changes: object): Sent => apply(path, hooksOf(changes));
  const selecting = (term: object) => ({ namespaceSelector: { matchExpressions: [term] } });
  const url = { clientConfig: { url: 'https://elsewhere.test/validate' } };
  const key = 'kubernetes.io/metadata.name';
  return [
    ...under('webhooks of Reeve are about', webhook, [
      ['judge Pods', hooks({ rules: [ruleOf('', 'pods')] })],
      [
        'judge Pods beside namespaces',
        hooks({ rules: [ruleOf('', 'namespaces'), ruleOf('', 'secrets', 'pods')] }),
      ],
      ['judge everything', hooks({ rules: [ruleOf('*', '*')] })],
      ['judge all of its own kinds, status included', hooks({ rules: [ruleOf('reeve.dev', '*/*')] })],
      ['judge connections', hooks({ rules: [{ ...ruleOf('', 'secrets'), operations: ['*'] }] })],
      ['judge ClusterRoles', hooks({ rules: [ruleOf('rbac.authorization.k8s.io', 'clusterroles')] })],
      ['judge several groups', hooks({ rules: [{ ...ruleOf('', 'secrets'), apiGroups: ['', 'apps'] }] })],
      [
        'change Pods',
        apply(mutating, hooksOf({ rules: [ruleOf('', 'pods')] }, 'reeve', 'MutatingWebhookConfiguration')),
      ],
    ]),
    ...under('webhooks of Reeve lead to', webhook, [
      ['lead reviews out of the cluster', hooks(url)],
      [
        'lead reviews to another Service',
        hooks({ clientConfig: { service: { ...service, name: 'other' } } }),
      ],
      [
        'lead reviews to another namespace',
        hooks({ clientConfig: { service: { ...service, namespace: 'default' } } }),
      ],
    ]),
    ...under('webhooks of Reeve let an emergency pass', webhook, [
      ['hold up emergencies', hooks({ matchConditions: [endings] })],
      ['hold up the end of namespaces', hooks({ matchConditions: [emergencies, ...ownEndings] })],
      [
        'hold up the end of policies',
        hooks({ rules: [ruleOf('reeve.dev', 'namespacepolicies')], matchConditions: [emergencies] }),
      ],
      [
        'hold up everything under the names of the conditions',
        hooks({
          matchConditions: [emergencies, endings, ...ownEndings].map((each) => ({
            ...each,
            expression: 'true',
          })),
        }),
      ],
      ['make everybody wait', hooks({ timeoutSeconds: 30 })],
      ['make everybody wait for as long as is usual', hooks({ timeoutSeconds: undefined })],
    ]),
    ...under('webhooks of Reeve leave out', webhook, [
      ['judge all namespaces', hooks({ namespaceSelector: {} })],
      [
        'judge kube-system',
        hooks(
          selecting({
            key,
            operator: 'NotIn',
            values: ['kube-public', 'kube-node-lease', 'reeve-system', 'reeve-shared'],
          }),
        ),
      ],
      ['judge only kube-system', hooks(selecting({ key, operator: 'In', values: ['kube-system'] }))],
    ]),
    ...under('of webhook configurations', webhook, [
      ['empty its configuration', apply(path, object(admission, 'ValidatingWebhookConfiguration', 'reeve'))],
      [
        'write another configuration',
        apply(at('validatingwebhookconfigurations', '', 'other'), hooksOf({}, 'other')),
        neither,
      ],
      [
        'make another configuration',
        post(at('mutatingwebhookconfigurations', ''), hooksOf({}, 'other', 'MutatingWebhookConfiguration')),
        neither,
      ],
    ]),
  ];
}
