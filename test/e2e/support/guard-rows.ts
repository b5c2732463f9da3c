// Lists for each guard the objects it protects, an attack on them, and the expected outcome of every way of that attack.
import type { Plural } from '../../contract/support/objects.ts';
import { markLabel } from '../guarded-objects.ts';
import { roleBinding } from './objects.ts';
import { changes, creations, finalizeChanges, removals, statusChanges, type Way } from './ways-to-tamper.ts';

/**
 * `refused`: the guard refuses the request. `absent`: no API server accepts such a request. `ignored`: the API server
 * accepts the request without the protected change. `free`: the guard does not protect against this request.
 */
export type Outcome = 'refused' | 'absent' | 'ignored' | 'free';
export type Outcomes = Readonly<Record<Way, Outcome>>;

export interface Row {
  readonly guard: string;
  readonly plural: Plural;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly path: readonly string[];
  readonly value: unknown;
  /** A text that every refusal contains. */
  readonly says: string;
  readonly outcomes: Outcomes;
  /** True when users with the right to use the policies and shares may do this too. */
  readonly isOpenToUsers?: true;
}

export const tenant = 'gm-tenant';
export const home = 'gm-home';
export const managedOwner = 'NamespacePolicy/gm-owner';

/** The kinds that the default install provides. `true`: the kind has a status that other programs write. */
const managedKinds = {
  rolebindings: false,
  secrets: false,
  configmaps: false,
  resourcequotas: true,
  limitranges: false,
  serviceaccounts: false,
  networkpolicies: false,
} as const;

export type ManagedKind = keyof typeof managedKinds;
export const managedPlurals = Object.keys(managedKinds) as readonly ManagedKind[];

type Group = 'changes' | 'status' | 'finalize' | 'creations' | 'delete' | 'delete-collection';

/** The types require an outcome for each way. */
function outcomes(by: Readonly<Record<Group, Outcome>>, others: Partial<Outcomes> = {}): Outcomes {
  return {
    ...all(changes, by.changes),
    ...all(statusChanges, by.status),
    ...all(finalizeChanges, by.finalize),
    ...all(creations, by.creations),
    ...all(removals, by.delete),
    'delete-collection': by['delete-collection'],
    ...others,
  };
}

function all<W extends Way>(ways: readonly W[], outcome: Outcome): Readonly<Record<W, Outcome>> {
  return Object.fromEntries(ways.map((way) => [way, outcome])) as Record<W, Outcome>;
}

const untouched = {
  finalize: 'absent',
  creations: 'free',
  delete: 'free',
  'delete-collection': 'free',
} as const;

/** Namespaces have no deletecollection: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/namespace-v1/ */
const ofNamespaces = outcomes(
  {
    ...untouched,
    changes: 'refused',
    status: 'refused',
    creations: 'refused',
    'delete-collection': 'absent',
  },
  { 'put/finalize': 'refused' },
);
const onceThere: Outcomes = { ...ofNamespaces, ...all(creations, 'free') };

/** The status subresource of a custom kind accepts only changes of the status, and no strategic patch. */
const noStrategicPatch = { 'strategic-patch': 'absent', 'strategic-patch/status': 'absent' } as const;
const ofOurKinds = outcomes(
  { ...untouched, changes: 'refused', status: 'ignored', creations: 'refused' },
  noStrategicPatch,
);

const label = (key: string): readonly string[] => ['metadata', 'labels', key];
const annotation = (key: string): readonly string[] => ['metadata', 'annotations', key];
const ownerPath = ['metadata', 'ownerReferences'] as const;
const owners = [
  { apiVersion: 'v1', kind: 'ConfigMap', name: 'gm-none', uid: 'ab0c2a52-7f0e-4a53-9d0b-000000000000' },
];

function managedRow(guard: string, plural: ManagedKind, path: readonly string[], value: unknown): Row {
  const status = managedKinds[plural] ? 'refused' : 'absent';
  return {
    guard,
    plural,
    namespace: home,
    name: 'kept',
    path,
    value,
    says: `kept for ${managedOwner}, and only Reeve writes it`,
    outcomes: outcomes({
      ...untouched,
      changes: 'refused',
      status,
      delete: 'refused',
      'delete-collection': 'refused',
    }),
  };
}

const managedRows: readonly Row[] = [
  ...managedPlurals.map((plural) => managedRow(`managed ${plural}`, plural, label('gm-touched'), 'yes')),
  managedRow('managed resourcequotas: hijack by an owner', 'resourcequotas', ownerPath, owners),
  managedRow(
    'managed secrets: the owner named in it',
    'secrets',
    annotation('reeve.dev/owner'),
    'SecretShare/other',
  ),
];

function markRow(plural: Plural, namespace: string, marked: Outcomes): Row {
  const says = 'only Reeve sets it: leave it out';
  const guard = `the mark: forged on ${plural}`;
  return {
    guard,
    plural,
    namespace,
    name: 'gm-own',
    path: label(markLabel),
    value: 'reeve',
    says,
    outcomes: marked,
  };
}

const markRows: readonly Row[] = [
  ...managedPlurals.map((plural) =>
    markRow(
      plural,
      home,
      outcomes({
        ...untouched,
        changes: 'refused',
        status: managedKinds[plural] ? 'refused' : 'absent',
        creations: 'refused',
      }),
    ),
  ),
  markRow(
    'clusterroles',
    '',
    outcomes({ ...untouched, changes: 'refused', status: 'absent', creations: 'refused' }),
  ),
  markRow('namespaces', '', ofNamespaces),
  markRow('namespacepolicies', '', ofOurKinds),
  markRow('secretshares', '', ofOurKinds),
];

type Attack = Pick<Row, 'name' | 'path' | 'value' | 'says'> & { readonly outcomes?: Outcomes };

function namespaceRow(guard: string, attack: Attack): Row {
  return { guard, plural: 'namespaces', namespace: '', outcomes: ofNamespaces, ...attack };
}

const ruleRows: readonly Row[] = [
  namespaceRow('deletion protection', {
    name: 'gm-locked',
    path: ownerPath,
    value: owners,
    says: 'policy gm-locked, namespaces.deletion: metadata.',
    outcomes: { ...ofNamespaces, delete: 'refused' },
  }),
  namespaceRow('immutable label', {
    name: 'gm-kept',
    path: label('gm-fixed'),
    value: 'b',
    says: 'policy gm-kept, namespaces.immutable: metadata.labels["gm-fixed"]: found "b"',
    outcomes: onceThere,
  }),
  namespaceRow('immutable annotation', {
    name: 'gm-kept',
    path: annotation('gm-fixed'),
    value: 'b',
    says: 'policy gm-kept, namespaces.immutable: metadata.annotations["gm-fixed"]: found "b"',
    outcomes: onceThere,
  }),
  namespaceRow('required label', {
    name: 'gm-ruled',
    path: label('gm-team'),
    value: 'Wrong',
    says: 'policy gm-ruled, namespaces.required: metadata.labels["gm-team"]: found "Wrong"',
  }),
  namespaceRow('required label: a name that webhooks leave out', {
    name: 'gm-ruled',
    path: ['metadata', 'labels'],
    value: { 'gm-team': 'Wrong', 'kubernetes.io/metadata.name': 'kube-system' },
    says: 'policy gm-ruled, namespaces.required: metadata.labels["gm-team"]: found "Wrong"',
  }),
];

function steeringRow(by: string, target: string, effect: string, attack: Omit<Attack, 'says'>): Row {
  const [kind, name = ''] = target.split(' ');
  const resource = kind === 'SecretShare' ? 'secretshares' : 'namespacepolicies';
  // The message names the namespace before these words, and each attack uses another namespace.
  const says = ` ${effect} ${target}, and user "${tenant}" may not do that (verb "use" on ${resource}/${name})`;
  return { ...namespaceRow(`steering: ${by}`, { ...attack, says }), isOpenToUsers: true };
}

const bring = 'under';
const take = 'from';
const plain = { name: 'gm-plain' };
/** Only a request for the subresource itself can change the field of the subresource. */
const onlyThrough = (ways: Partial<Outcomes>): Outcomes => ({
  ...ofNamespaces,
  ...all(changes, 'ignored'),
  ...all(statusChanges, 'ignored'),
  'put/finalize': 'ignored',
  ...ways,
});

const steeringRows: readonly Row[] = [
  steeringRow('label', 'NamespacePolicy gm-team', bring, { ...plain, path: label('gm-tier'), value: 'team' }),
  steeringRow('label of a share', 'SecretShare gm-share', bring, {
    ...plain,
    path: label('gm-pull'),
    value: 'true',
  }),
  steeringRow('label that must not be there', 'NamespacePolicy gm-absent', take, {
    ...plain,
    path: label('gm-opt-out'),
    value: 'yes',
  }),
  steeringRow('label that must be another', 'NamespacePolicy gm-not-in', take, {
    ...plain,
    path: label('gm-zone'),
    value: 'outer',
  }),
  steeringRow('label out of a policy', 'NamespacePolicy gm-team', take, {
    name: 'gm-in',
    path: label('gm-tier'),
    value: 'none',
    outcomes: onceThere,
  }),
  steeringRow('label in its contents', 'NamespacePolicy gm-team', 'gets from', {
    name: 'gm-in',
    path: label('gm-group'),
    value: 'admins',
    outcomes: onceThere,
  }),
  steeringRow('annotation', 'NamespacePolicy gm-annotated', bring, {
    ...plain,
    path: annotation('gm-note'),
    value: 'x',
  }),
  steeringRow('finalizer', 'NamespacePolicy gm-finalized', bring, {
    ...plain,
    path: ['metadata', 'finalizers'],
    value: ['gm.example.com/held'],
  }),
  steeringRow('owner', 'NamespacePolicy gm-owned', bring, { ...plain, path: ownerPath, value: owners }),
  steeringRow('spec', 'NamespacePolicy gm-specified', bring, {
    name: 'gm-spec',
    path: ['spec', 'finalizers'],
    value: ['gm.example.com/held', 'kubernetes'],
    outcomes: onlyThrough({ 'put/finalize': 'refused' }),
  }),
  steeringRow('status', 'NamespacePolicy gm-conditional', bring, {
    name: 'gm-status',
    path: ['status', 'conditions'],
    value: [{ type: 'gm.example.com/Held', status: 'True' }],
    outcomes: onlyThrough({ ...all(statusChanges, 'refused'), ...all(creations, 'free') }),
  }),
  steeringRow('name', 'NamespacePolicy gm-named', bring, {
    name: 'gm-named',
    path: label('gm-touched'),
    value: 'yes',
    outcomes: outcomes(
      { ...untouched, changes: 'free', status: 'free', creations: 'refused', 'delete-collection': 'absent' },
      { 'put/finalize': 'free' },
    ),
  }),
];

const ofDeletions = outcomes(
  { ...untouched, changes: 'refused', status: 'ignored', delete: 'refused', 'delete-collection': 'refused' },
  noStrategicPatch,
);

const ownerRows: readonly Row[] = [
  {
    guard: 'the check of policies',
    plural: 'namespacepolicies',
    namespace: '',
    name: 'gm-own',
    path: ['spec', 'match', 'matchConditions'],
    value: [{ name: 'cut', expression: 'namespaceObject.' }],
    says: 'spec.match.matchConditions[0].expression: found',
    outcomes: ofOurKinds,
  },
  {
    guard: 'the check of shares',
    plural: 'secretshares',
    namespace: '',
    name: 'gm-own',
    path: ['spec', 'source', 'namespace'],
    value: 'default',
    says: 'spec.source.namespace: found "default"',
    outcomes: ofOurKinds,
  },
  {
    guard: 'authors of policies: a role',
    plural: 'namespacepolicies',
    namespace: '',
    name: 'gm-own',
    path: ['spec', 'contents', 'roleBindings'],
    value: [roleBinding('x', 'gm-staff', 'cluster-admin')],
    says: 'may not hand out ClusterRole cluster-admin (verb "bind" on clusterroles.rbac.authorization.k8s.io/cluster-admin)',
    outcomes: ofOurKinds,
  },
  {
    guard: 'authors of policies: a label that others select',
    plural: 'namespacepolicies',
    namespace: '',
    name: 'gm-own',
    path: ['spec', 'namespaces', 'defaults'],
    value: { labels: { 'gm-tier': 'team' } },
    says: '(verb "use" on namespacepolicies/',
    outcomes: ofOurKinds,
    isOpenToUsers: true,
  },
  {
    guard: 'authors of shares: a source',
    plural: 'secretshares',
    namespace: '',
    name: 'gm-own',
    path: ['spec', 'source', 'name'],
    value: 'gm-unreadable',
    says: 'may not share Secret reeve-shared/gm-unreadable (verb "get" on secrets/gm-unreadable in namespace reeve-shared)',
    outcomes: ofOurKinds,
  },
  ...(['namespacepolicies', 'secretshares'] as const).map((plural): Row => ({
    guard: `the fuse of ${plural}`,
    plural,
    namespace: '',
    name: 'gm-fuse',
    path: ['spec', plural === 'secretshares' ? 'targets' : 'match', 'namespaceSelector'],
    value: { matchLabels: { 'gm-nobody': 'has-it' } },
    says: 'this write would delete up to 2 objects in 2 namespaces (gm-two-a, gm-two-b), and spec.maxDeletions is 1',
    outcomes: ofDeletions,
  })),
];

export const rows: readonly Row[] = [...managedRows, ...markRows, ...ruleRows, ...steeringRows, ...ownerRows];
