// What the accounts of Reeve are tried on: a namespace with objects of Reeve and of others, a policy, and the install.
import type { Api, PatchKind, Reply } from '../../contract/support/api.ts';
import { at } from '../../contract/support/objects.ts';
import { until } from '../until.ts';

export const accounts = {
  webhook: 'system:serviceaccount:reeve-system:reeve-webhook',
  reconciler: 'system:serviceaccount:reeve-system:reeve-reconciler',
} as const;

export type Account = keyof typeof accounts;

/** A request of which nothing is stored. */
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
const owner = { 'reeve.dev/owner': 'NamespacePolicy/nobody' };
/** As Reeve makes it. */
export const marked = { labels: mark, annotations: owner };

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

export function eventOf(reportingController: string, namespace: string) {
  return {
    ...object('events.k8s.io/v1', 'Event', 'tried'),
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

const others = {
  key: 'kubernetes.io/metadata.name',
  operator: 'NotIn',
  values: ['kube-system', 'kube-public', 'kube-node-lease', 'reeve-system', 'reeve-shared'],
};
export const service = { namespace: 'reeve-system', name: 'reeve-webhook' };

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
/** Those that every webhook of Reeve must have, those about Namespaces, and those about its own kinds. */
export const emergencies = { name: 'no-emergency', expression: noEmergency };
export const endings = { name: 'not-ending', expression: notEnding };
export const ownEndings = [
  { name: 'still-there', expression: stillThere },
  { name: 'asks-for-something-else', expression: asksForSomethingElse },
];

/** As Reeve writes it, but for the changes. */
export function hooksOf(changes: object = {}, name = 'reeve', kind = 'ValidatingWebhookConfiguration') {
  const hook = {
    name: 'jail.reeve.dev',
    rules: [ruleOf('', 'namespaces', 'namespaces/status', 'namespaces/finalize', 'secrets')],
    namespaceSelector: { matchExpressions: [others] },
    failurePolicy: 'Ignore',
    timeoutSeconds: 5,
    matchConditions: [emergencies, endings, ...ownEndings],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { service },
  };
  return object(admission, kind, name, { webhooks: [{ ...hook, ...changes }] });
}

/**
 * While Reeve does not run: its authority goes, so that another could take the place. Leaves alone what is there already.
 * Whoever asks must be let past the guard.
 */
export async function setScene(api: Api, namespace: string): Promise<void> {
  const make = async (path: string, body: object): Promise<void> => {
    const { status, text } = await api.create(path, body);
    if (status !== 201 && status !== 409) throw new Error(`${path}: ${status} ${text}`);
  };
  const labeled = { labels: { team: 'a' }, annotations: { contact: 'ann' } };
  for (const name of ['reeve-system', 'reeve-shared'])
    await make(at('namespaces', ''), object('v1', 'Namespace', name));
  await make(at('namespaces', ''), {
    ...object('v1', 'Namespace', namespace),
    metadata: { name: namespace, ...labeled },
  });
  await until(
    async () => (await api.get(at('serviceaccounts', namespace, 'default'))).status === 200,
    () => 'its controllers have seen the namespace',
  );
  await api.delete(at('secrets', 'reeve-system', 'reeve-webhook-ca'));
  await make(at('leases', 'reeve-system'), object('coordination.k8s.io/v1', 'Lease', 'reeve-reconciler'));
  await make(at('secrets', namespace), secretOf('theirs'));
  await make(at('configmaps', namespace), configMapOf('theirs'));
  await make(at('configmaps', namespace), configMapOf('offered', { labels: { 'reeve.dev/adopt': 'true' } }));
  await make(at('configmaps', namespace), configMapOf('ours', marked));
  await make(at('roles', namespace), object(`${rbac}/v1`, 'Role', 'theirs', { rules: [] }));
  await make(at('rolebindings', namespace), bindingOf('theirs', readers, ['ClusterRole', 'view'], {}));
  await make(at('rolebindings', namespace), bindingOf('ours'));
  await make(
    at('namespacepolicies', ''),
    object('reeve.dev/v1alpha1', 'NamespacePolicy', namespace, { spec: { match: { names: ['nobody'] } } }),
  );
}
