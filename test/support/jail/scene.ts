// The objects on which the attempts run: a namespace with objects of Reeve and of others, a policy, and the install.
import type { Api, PatchKind, Reply } from '../../contract/support/api.ts';
import { at, shareSpec } from '../../contract/support/objects.ts';
import { until } from '../until.ts';

export const accounts = {
  webhook: 'system:serviceaccount:reeve-system:reeve-webhook',
  reconciler: 'system:serviceaccount:reeve-system:reeve-reconciler',
} as const;

/** The namespaces that the variables of the jail exclude. */
export const excluded = [
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'reeve-system',
  'reeve-shared',
] as const;

/** A finalizer of another program. */
export const held = 'test.dev/held';

const binding = { intents: ['nobody'] };
const nowhere = { match: { names: ['nobody'] } };

/** The kinds of providers. The scene has one object of each, which has the name of the namespace. */
export const owningKinds = [
  { plural: 'namespacepolicies', kind: 'NamespacePolicy', spec: nowhere, isNamespaced: false },
  { plural: 'secretshares', kind: 'SecretShare', spec: shareSpec, isNamespaced: false },
  {
    plural: 'configmapshares',
    kind: 'ConfigMapShare',
    spec: { sources: [shareSpec.source], targets: shareSpec.targets },
    isNamespaced: false,
  },
  {
    plural: 'clustersecurityintentbindings',
    kind: 'ClusterSecurityIntentBinding',
    spec: { ...binding, ...nowhere },
    isNamespaced: false,
  },
  {
    plural: 'securityintentbindings',
    kind: 'SecurityIntentBinding',
    spec: binding,
    isNamespaced: true,
  },
] as const;

type OwningKind = (typeof owningKinds)[number];

/** Returns the path of the objects of the kind, or of one of them. */
export function ofOwners(
  { plural, isNamespaced }: OwningKind,
  namespace: string,
  ...name: readonly string[]
) {
  return at(plural, isNamespaced ? namespace : '', ...name);
}

/** Returns the owner as objects in the namespace name it. */
export function ownerNamed({ kind, isNamespaced }: OwningKind, namespace: string, name: string): string {
  return [kind, ...(isNamespaced ? [namespace] : []), name].join('/');
}

/** The kinds that the install allows besides ConfigMaps. The object `theirs` of each kind has no owner of Reeve. */
export const otherKinds = (
  [
    ['resourcequotas', 'v1', 'ResourceQuota', { spec: { hard: { pods: '5' } } }],
    ['limitranges', 'v1', 'LimitRange', { spec: { limits: [] } }],
    ['serviceaccounts', 'v1', 'ServiceAccount', {}],
    ['networkpolicies', 'networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {} } }],
  ] as const
).map(([plural, apiVersion, kind, rest]) => ({ plural, body: object(apiVersion, kind, 'theirs', rest) }));

export const otherCondition = {
  type: 'Other',
  status: 'True',
  reason: 'A',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

export type Account = keyof typeof accounts;

/** A request that stores nothing. */
export type Sent = (api: Api) => Promise<Reply>;

const dry = 'dryRun=All';

export const post =
  (path: string, body: object): Sent =>
  (api) =>
    api.create(`${path}?${dry}`, body);

export const put =
  (path: string, body: object): Sent =>
  (api) =>
    api.replace(`${path}?${dry}`, body);

export const patch =
  (kind: PatchKind, path: string, body: object): Sent =>
  (api) =>
    api.patch(`${path}?${dry}`, kind, body);

export const apply =
  (path: string, body: object, manager = 'reeve'): Sent =>
  (api) =>
    api.apply(path, body, `fieldManager=${manager}&force=true&${dry}`);

export const remove =
  (path: string): Sent =>
  (api) =>
    api.delete(`${path}?${dry}`);

export const mark = { 'app.kubernetes.io/managed-by': 'reeve' };
/** Returns the metadata that Reeve gives the objects of that owner. */
export function markedBy(owner: string) {
  const [kind = '', ...rest] = owner.split('/');
  const labels = { ...mark, [`reeve.dev/${kind.toLowerCase()}`]: rest.at(-1) };
  return { labels, annotations: { 'reeve.dev/owner': owner } };
}

export const marked = markedBy('NamespacePolicy/nobody');

export function object(apiVersion: string, kind: string, name: string, rest: object = {}) {
  return { apiVersion, kind, metadata: { name }, ...rest };
}

export function secretOf(name: string, metadata: object = {}, rest: object = {}) {
  return { ...object('v1', 'Secret', name), metadata: { name, ...metadata }, ...rest };
}

export function configMapOf(name: string, metadata: object = {}, data: object = {}) {
  return { ...object('v1', 'ConfigMap', name), metadata: { name, ...metadata }, data };
}

const rbac = 'rbac.authorization.k8s.io';
const readers = { kind: 'Group', apiGroup: rbac, name: 'readers' };

export function bindingOf(
  name: string,
  subject: object = readers,
  [kind, role]: readonly [string, string] = ['ClusterRole', 'view'],
  metadata: object = marked,
) {
  const roleRef = { apiGroup: rbac, kind, name: role };
  return {
    ...object(`${rbac}/v1`, 'RoleBinding', name),
    metadata: { name, ...metadata },
    roleRef,
    subjects: [{ ...(subject === readers || 'namespace' in subject ? {} : { apiGroup: rbac }), ...subject }],
  };
}

export function eventOf(reportingController: string, namespace: string, name = 'tried') {
  return {
    ...object('events.k8s.io/v1', 'Event', name),
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController,
    reportingInstance: 'reeve-0',
    action: 'Create',
    reason: 'Created',
    type: 'Normal',
    regarding: { apiVersion: 'v1', kind: 'Secret', name: 'theirs', namespace },
  };
}

export function eventsIn(namespace: string): string {
  return `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
}

export const admission = 'admissionregistration.k8s.io/v1';

/** The selector with which every webhook of Reeve excludes namespaces. */
export const others = {
  key: 'kubernetes.io/metadata.name',
  operator: 'NotIn',
  values: excluded,
};
export const hookKinds = [
  { path: at('validatingwebhookconfigurations', ''), kind: 'ValidatingWebhookConfiguration' },
  { path: at('mutatingwebhookconfigurations', ''), kind: 'MutatingWebhookConfiguration' },
] as const;
export const service = { namespace: 'reeve-system', name: 'reeve-webhook', path: '/validate' };
/** An authority whose key is lost. */
export const caBundle =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJkVENDQVJ1Z0F3SUJBZ0lVTzIzVFBLcXdoSHJuTTRrNHRTTmpqWGh5' +
  'TWNrd0NnWUlLb1pJemowRUF3SXcKRHpFTk1Bc0dBMVVFQXd3RWFtRnBiREFnRncweU5qRXhNakl3TURNMk1UVmFHQTh5TVRJ' +
  'Mk1UQXlPVEF3TXpZeApOVm93RHpFTk1Bc0dBMVVFQXd3RWFtRnBiREJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEw' +
  'SUFCQjhDClJ4UTBWNDdGMzNqZ2Z4TkdxT1pHMi9LS0ZQdFJJNWpFMHArNnVrUWRPeDhtTUcrdWhqYmJoWjUzUFlHam03NWQK' +
  'RS9BeFgyem9DSm1PY2RIWnFqZWpVekJSTUIwR0ExVWREZ1FXQkJRUWFaQUs1c3VodWhJc3J2dzZ1Wmd5eHdXcgp6REFmQmdO' +
  'VkhTTUVHREFXZ0JRUWFaQUs1c3VodWhJc3J2dzZ1Wmd5eHdXcnpEQVBCZ05WSFJNQkFmOEVCVEFECkFRSC9NQW9HQ0NxR1NN' +
  'NDlCQU1DQTBnQU1FVUNJSHQvVmh3Ukw3bG0yQXhmenRreU96NWlMREhYQmdpVVlJenoKQ1B6OU9rdEtBaUVBeVhNa1dpOW1t' +
  'T1JTaGlEVFExWFlyRmlONWl3VmdsQUlsT3VJbEpNaEp2MD0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=';

export function ruleOf(apiGroup: string, ...resources: readonly string[]) {
  return { apiGroups: [apiGroup], apiVersions: ['v1'], resources, operations: ['UPDATE'] };
}

const noEmergency = '!has(request.userInfo.groups) || !("reeve:break-glass" in request.userInfo.groups)';
const notEnding =
  'request.operation == "CREATE" || !has(oldObject.metadata.deletionTimestamp) || (request.operation == "UPDATE" ' +
  '&& ["labels", "annotations", "ownerReferences"].exists(key, (key in object.metadata) != (key in ' +
  'oldObject.metadata) || (key in object.metadata && object.metadata[key] != oldObject.metadata[key])))';
const stillThere = 'request.operation != "DELETE" || !has(oldObject.metadata.deletionTimestamp)';
const asksForSomethingElse =
  'request.operation != "UPDATE" || has(object.spec) != has(oldObject.spec) || (has(object.spec) && object.spec ' +
  '!= oldObject.spec) || object.metadata.?annotations[?"reeve.dev/confirm-deletions"] ' +
  '!= oldObject.metadata.?annotations[?"reeve.dev/confirm-deletions"]';
/** Match conditions: of every webhook, of the webhooks for Namespaces, and of the webhooks for Reeve's own kinds. */
export const emergencies = { name: 'no-emergency', expression: noEmergency };
export const endings = { name: 'not-ending', expression: notEnding };
export const ownEndings = [
  { name: 'still-there', expression: stillThere },
  { name: 'asks-for-something-else', expression: asksForSomethingElse },
];

/** Returns the webhook that Reeve writes, with the given changes. */
export function hookOf(changes: object = {}): object {
  return {
    name: 'jail.reeve.dev',
    rules: [ruleOf('', 'namespaces', 'namespaces/status', 'namespaces/finalize', 'secrets')],
    namespaceSelector: { matchExpressions: [others] },
    failurePolicy: 'Ignore',
    timeoutSeconds: 5,
    matchConditions: [emergencies, endings, ...ownEndings],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { service },
    ...changes,
  };
}

export function hooksOf(changes: object = {}, name = 'reeve', kind = 'ValidatingWebhookConfiguration') {
  return object(admission, kind, name, { webhooks: [hookOf(changes)] });
}

/** The ClusterRole that owns the webhook configurations. */
const hooksOwner = { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', name: 'reeve-webhook' };

/**
 * Returns the body with the owner that Reeve gives its webhook configurations. RBAC refuses the write of an account that
 * may not read the owner, so that its uid does not matter.
 */
export async function owned(api: Api, body: ReturnType<typeof hooksOf>): Promise<object> {
  const { status, body: role } = await api.get(at('clusterroles', '', hooksOwner.name));
  const ownerReferences = [{ ...hooksOwner, uid: status === 200 ? role.metadata.uid : 'unknown' }];
  return { ...body, metadata: { ...body.metadata, ownerReferences } };
}

/**
 * Creates the scene while Reeve does not run, and deletes Reeve's authority, so that a test can replace it. Keeps
 * existing objects. The guard must let the caller through.
 */
export async function setScene(api: Api, namespace: string): Promise<void> {
  const make = async (path: string, body: object): Promise<void> => {
    const { status, text } = await api.create(path, body);
    if (status !== 201 && status !== 409) throw new Error(`${path}: ${status} ${text}`);
  };
  const labeled = { labels: { team: 'a' }, annotations: { contact: 'ann' } };
  for (const name of excluded) await make(at('namespaces', ''), object('v1', 'Namespace', name));
  await make(at('namespaces', ''), {
    ...object('v1', 'Namespace', namespace),
    metadata: { name: namespace, ...labeled },
  });
  await api.must(
    api.patch(`${at('namespaces', '', namespace)}/status`, 'merge', {
      status: { conditions: [otherCondition] },
    }),
  );
  await until(
    async () => (await api.get(at('serviceaccounts', namespace, 'default'))).status === 200,
    () => 'its controllers have seen the namespace',
  );
  await api.delete(at('secrets', 'reeve-system', 'reeve-webhook-ca'));
  await make(at('leases', 'reeve-system'), object('coordination.k8s.io/v1', 'Lease', 'reeve-reconciler'));
  await make(at('secrets', namespace), secretOf('theirs'));
  const ofHelm = { 'app.kubernetes.io/managed-by': 'Helm', 'reeve.dev/adopt': 'false' };
  await make(at('configmaps', namespace), configMapOf('theirs', { labels: ofHelm }));
  const offer = { labels: { 'reeve.dev/adopt': 'true' }, finalizers: [held] };
  await make(at('configmaps', namespace), configMapOf('offered', offer));
  await make(at('configmaps', namespace), configMapOf('ours', marked, { kept: 'yes' }));
  const orphan = { 'reeve.dev/orphaned-from': 'nobody' };
  const left = { labels: orphan, annotations: { 'reeve.dev/orphaned-from': 'NamespacePolicy/nobody' } };
  const adopted = { ...marked, annotations: { ...marked.annotations, 'reeve.dev/adopted': 'true' } };
  const given = { ...adopted, labels: { ...marked.labels, 'reeve.dev/adopt': 'delete' } };
  await make(at('configmaps', namespace), configMapOf('left', left));
  await make(at('configmaps', namespace), configMapOf('adopted', adopted));
  await make(at('configmaps', namespace), configMapOf('given', given));
  await make(at('secrets', namespace), secretOf('offered', { labels: offer.labels }));
  await make(at('secrets', namespace), secretOf('left', left));
  await make(at('secrets', namespace), secretOf('adopted', adopted));
  for (const { plural, body } of otherKinds) await make(at(plural, namespace), body);
  const provided = { ...object('v1', 'ServiceAccount', 'ours'), metadata: { name: 'ours', ...marked } };
  await make(at('serviceaccounts', namespace), provided);
  // The Role has the name of a ClusterRole that the reconciler may bind.
  await make(at('roles', namespace), object(`${rbac}/v1`, 'Role', 'view', { rules: [] }));
  await make(at('rolebindings', namespace), bindingOf('theirs', readers, ['ClusterRole', 'view'], {}));
  await make(at('rolebindings', namespace), bindingOf('ours'));
  const temporary = { labels: { 'reeve.dev/temporary': 'true' } };
  await make(at('rolebindings', namespace), bindingOf('lent', readers, ['ClusterRole', 'view'], temporary));
  await make(eventsIn(namespace), eventOf('kubelet', namespace, 'said'));
  const metadata = { name: namespace, ...labeled, finalizers: [held] };
  for (const each of owningKinds)
    await make(ofOwners(each, namespace), {
      ...object('reeve.dev/v1alpha1', each.kind, namespace, { spec: each.spec }),
      metadata,
    });
  await make(at('clusterroles', ''), object(`${rbac}/v1`, 'ClusterRole', hooksOwner.name, { rules: [] }));
  // The API server sends no review for a configuration without webhooks.
  for (const { path, kind } of hookKinds) await make(path, object(admission, kind, 'reeve'));
}

/** Creates the authority last, because some attempts need a missing authority. */
export async function setAuthority(api: Api): Promise<void> {
  const { status, text } = await api.create(at('secrets', 'reeve-system'), secretOf('reeve-webhook-ca'));
  if (status !== 201) throw new Error(text);
}

export async function clearScene(api: Api, namespace: string): Promise<void> {
  for (const each of owningKinds)
    await api.patch(ofOwners(each, namespace, namespace), 'merge', { metadata: { finalizers: null } });
  await api.patch(at('configmaps', namespace, 'offered'), 'merge', { metadata: { finalizers: null } });
  for (const path of [
    ...owningKinds.map((each) => ofOwners(each, namespace, namespace)),
    at('secrets', 'reeve-system', 'reeve-webhook-ca'),
    ...hookKinds.map((hooks) => `${hooks.path}/reeve`),
    at('namespaces', '', namespace),
  ])
    await api.delete(path);
}
