// Makes AdmissionReviews as the API server sends them. A test can replace or leave out any part.
import { isJsonObject } from '../../src/base/json.ts';

export type Json = Record<string, unknown>;

const rbac = 'rbac.authorization.k8s.io';
const reeve = { group: 'reeve.dev', version: 'v1alpha1' };

interface ResourceType {
  readonly group: string;
  readonly kind: string;
  readonly resource: string;
  /** Default: v1. */
  readonly version?: string;
}

const types: Readonly<Record<string, ResourceType>> = {
  Namespace: { group: '', kind: 'Namespace', resource: 'namespaces' },
  Secret: { group: '', kind: 'Secret', resource: 'secrets' },
  Role: { group: rbac, kind: 'Role', resource: 'roles' },
  RoleBinding: { group: rbac, kind: 'RoleBinding', resource: 'rolebindings' },
  NamespacePolicy: { ...reeve, kind: 'NamespacePolicy', resource: 'namespacepolicies' },
  SecretShare: { ...reeve, kind: 'SecretShare', resource: 'secretshares' },
};

const none: ResourceType = { group: '', kind: '', resource: '' };

export const testUid = '0c9d1a3e-5d6f-4d7e-9a0b-1c2d3e4f5a6b';

export function namespaceObject(name: string, metadata: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name }, ...metadata },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

export function secretObject(fields: Json = {}, metadata: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'credentials', namespace: 'team-a', ...metadata },
    type: 'Opaque',
    ...fields,
  };
}

export function roleObject(fields: Json = {}): Json {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata: { name: 'reader', namespace: 'team-a' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    ...fields,
  };
}

export function bindingObject(fields: Json = {}): Json {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'readers', namespace: 'team-a' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: rbac, kind: 'Group', name: 'team-a' }],
    ...fields,
  };
}

export function policyObject(spec: Json = {}, metadata: Json = {}): Json {
  return {
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'NamespacePolicy',
    metadata: { name: 'teams', ...metadata },
    spec: {
      validationActions: ['Deny'],
      deletionPolicy: 'Delete',
      maxDeletions: 20,
      suspend: false,
      ...spec,
    },
  };
}

export function shareObject(spec: Json = {}, metadata: Json = {}): Json {
  return {
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'SecretShare',
    metadata: { name: 'regcred', ...metadata },
    spec: {
      source: { namespace: 'reeve-shared', name: 'regcred' },
      targets: { names: ['team-*'] },
      deletionPolicy: 'Delete',
      maxDeletions: 20,
      suspend: false,
      ...spec,
    },
  };
}

/** Returns a CREATE of the object with the given fields of the request replaced. Undefined removes a field. */
export function requestFor(object: Json, changes: Json = {}): Json {
  const type = types[String(object['kind'])] ?? none;
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const { group, version = 'v1', kind, resource } = type;
  const gvk = { group, version, kind };
  const gvr = { group, version, resource };
  return {
    uid: testUid,
    kind: gvk,
    resource: gvr,
    requestKind: gvk,
    requestResource: gvr,
    name: metadata['name'],
    namespace: kind === 'Namespace' ? metadata['name'] : metadata['namespace'],
    operation: 'CREATE',
    userInfo: { username: 'alice', groups: ['developers', 'system:authenticated'] },
    object,
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    ...changes,
  };
}

export function reviewOf(request: unknown): Json {
  return { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request };
}

export function reviewJson(object: Json, changes: Json = {}): string {
  return JSON.stringify(reviewOf(requestFor(object, changes)));
}

/** The response of a webhook inside the review. */
export interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patchType?: string;
  readonly patch?: string;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly status?: {
    readonly status: string;
    readonly code: number;
    readonly reason: string;
    readonly message: string;
    readonly details: Json;
  };
}

export function responseOf(body: string): Response {
  const review = JSON.parse(body) as { apiVersion: string; kind: string; response: Response };
  if (review.apiVersion !== 'admission.k8s.io/v1' || review.kind !== 'AdmissionReview')
    throw new Error('not a review');
  return review.response;
}
