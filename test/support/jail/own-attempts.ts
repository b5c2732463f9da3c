// Forbidden requests of Reeve's accounts on objects that Reeve itself needs: policies, shares, Leases, Events, its authority.
import { at } from '../../contract/support/objects.ts';
import {
  both,
  marking,
  neither,
  owners,
  reconciler,
  under,
  webhook,
  type Attempt,
  type Row,
} from './attempt.ts';
import {
  apply,
  eventOf,
  eventsIn,
  excluded,
  held,
  marked,
  object,
  ofOwners,
  owningKinds,
  patch,
  post,
  remove,
  secretOf,
  type Sent,
} from './scene.ts';

export function ownAttempts(team: string): readonly Attempt[] {
  const lease = (name: string, namespace: string) =>
    apply(at('leases', namespace, name), object('coordination.k8s.io/v1', 'Lease', name));
  const authority = at('secrets', 'reeve-system', 'reeve-webhook-ca');
  const authorityWith = (metadata: object): Sent => apply(authority, secretOf('reeve-webhook-ca', metadata));
  const ownLease = at('leases', 'reeve-system', 'reeve-reconciler');
  const holding = (event: ReturnType<typeof eventOf>, metadata: object) => ({
    ...event,
    metadata: { ...event.metadata, ...metadata },
  });
  const oldEvent = {
    ...object('v1', 'Event', 'tried'),
    metadata: { name: 'tried', ...marked },
    involvedObject: { namespace: team },
  };
  return [
    ...owningKinds.flatMap((kind) => providerAttempts(team, kind)),
    ...under('of Leases', neither, [
      ['create a Lease with another name', lease('other', 'reeve-system')],
      ['create its Lease in another namespace', lease('reeve-reconciler', team)],
      ['hold a Lease of Kubernetes', lease('kube-scheduler', 'kube-system')],
      [
        'make a Lease by POST',
        post(at('leases', 'reeve-system'), object('coordination.k8s.io/v1', 'Lease', 'other')),
      ],
      ['delete its Lease', remove(ownLease)],
    ]),
    ...under('of Events', reconciler, [
      ['speak for another controller', post(eventsIn(team), eventOf('kubelet', team))],
      [
        'count on an Event of another controller',
        patch('merge', `${eventsIn(team)}/said`, {
          series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' },
        }),
      ],
      ['delete an Event', remove(`${eventsIn(team)}/said`), neither],
      ['delete all Events', remove(eventsIn(team)), neither],
      ...excluded.map((name): Row => [
        `write Events in ${name}`,
        post(eventsIn(name), eventOf('reeve.dev/reeve', name)),
      ]),
    ]),
    ...under('of the Secrets in reeve-system', reconciler, [
      ['write another Secret of Reeve', apply(at('secrets', 'reeve-system', 'other'), secretOf('other'))],
    ]),
    ...under('of the Secrets in reeve-system', webhook, [
      [
        'make its authority immutable',
        apply(authority, secretOf('reeve-webhook-ca', {}, { immutable: true })),
        both,
      ],
    ]),
    ...under('of Leases', reconciler, [
      [
        'lead for more than a minute',
        patch('merge', ownLease, { spec: { holderIdentity: 'nobody', leaseDurationSeconds: 61 } }),
      ],
    ]),
    ...under('Reeve adds finalizers', reconciler, [
      ['add a finalizer to its Lease', patch('merge', ownLease, { metadata: { finalizers: [held] } })],
      [
        'hold up the end of an Event',
        post(eventsIn(team), holding(eventOf('reeve.dev/reeve', team), { finalizers: [held] })),
      ],
      ['add a finalizer to its authority', authorityWith({ finalizers: [held] }), both],
    ]),
    ...under('Reeve marks what policies', reconciler, [
      ['set the mark on its Lease', patch('merge', ownLease, { metadata: marked })],
      ['set the mark on an Event', post(eventsIn(team), holding(eventOf('reeve.dev/reeve', team), marked))],
      ['set the mark on its authority', authorityWith(marked), marking],
    ]),
    ...under('Reeve neither adds nor changes ownerReferences', reconciler, [
      ['let the garbage collector delete its Lease', patch('merge', ownLease, { metadata: owners })],
      [
        'let the garbage collector delete an Event',
        post(eventsIn(team), holding(eventOf('reeve.dev/reeve', team), owners)),
      ],
      ['create its authority for the garbage collector', authorityWith(owners), both],
    ]),
    ...under('of labels and annotations, Reeve sets', reconciler, [
      ['label its Lease', patch('merge', ownLease, { metadata: { labels: { a: 'b' } } })],
      ['annotate its authority', authorityWith({ annotations: { a: '' } }), both],
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
    ...under('Reeve never writes reeve.dev/securityintents', neither, [
      [
        'write an intent',
        post(
          at('securityintents', ''),
          object('reeve.dev/v1alpha1', 'SecurityIntent', team, { spec: { id: 'dnsManipulation' } }),
        ),
      ],
    ]),
    ...under('Reeve never writes events', neither, [
      ['write an Event of the core group', post(`/api/v1/namespaces/${team}/events`, oldEvent)],
    ]),
    ...under('Reeve never writes resourcequotas/status', neither, [
      ['write a status', patch('merge', at('resourcequotas', team, 'theirs', 'status'), { status: {} })],
    ]),
  ];
}

/** Returns the attempts that need an existing authority. */
export function authorityAttempts(): readonly Attempt[] {
  const authority = at('secrets', 'reeve-system', 'reeve-webhook-ca');
  return [
    ...under('of the Secrets in reeve-system', reconciler, [
      ['delete the authority', remove(authority)],
      ['delete all Secrets of Reeve', remove(at('secrets', 'reeve-system')), neither],
      ['make the authority immutable', patch('merge', authority, { immutable: true }), both],
    ]),
    ...under('Reeve adds finalizers', both, [
      ['add a finalizer to the authority', patch('merge', authority, { metadata: { finalizers: [held] } })],
    ]),
    ...under('Reeve neither adds nor changes ownerReferences', both, [
      ['let the garbage collector delete the authority', patch('merge', authority, { metadata: owners })],
    ]),
    ...under('Reeve marks what policies', marking, [
      ['set the mark on the authority', patch('merge', authority, { metadata: marked })],
    ]),
  ];
}

function providerAttempts(team: string, each: (typeof owningKinds)[number]): readonly Attempt[] {
  const { plural, kind, spec } = each;
  const path = ofOwners(each, team, team);
  const owner = (name: string, rest: object) => object('reeve.dev/v1alpha1', kind, name, rest);
  const suspended = { spec: { ...spec, suspend: true } };
  const metadata = (change: object): Sent => patch('merge', path, { metadata: change });
  return under('of policies, shares and bindings', reconciler, [
    [`change ${plural}`, patch('merge', path, suspended)],
    [`change ${plural} by apply`, apply(path, owner(team, suspended), 'me')],
    [
      `confirm deletions of ${plural}`,
      patch('json', path, [
        { op: 'add', path: '/metadata/annotations/reeve.dev~1confirm-deletions', value: '9' },
      ]),
    ],
    [`label ${plural}`, metadata({ labels: { a: 'b' } })],
    [`take the labels from ${plural}`, metadata({ labels: null })],
    [`give ${plural} an owner`, metadata(owners)],
    [`hold ${plural} for others`, metadata({ finalizers: [held, 'test.dev/also'] })],
    [`take a finalizer of others from ${plural}`, metadata({ finalizers: null })],
    [
      `put its finalizer in the place of another one on ${plural}`,
      metadata({ finalizers: ['reeve.dev/cleanup'] }),
    ],
    [`write ${plural}`, post(ofOwners(each, team), owner(`${team}-two`, { spec })), neither],
    [`delete ${plural}`, remove(path), neither],
  ]);
}
