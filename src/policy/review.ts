// What the engine is asked: one admission request, decoded and checked, as plain data.

export type ReviewedResource = 'namespaces' | 'secrets' | 'roles' | 'rolebindings';
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';
export type Subresource = '' | 'status' | 'finalize';

export type StringMap = Readonly<Record<string, string>>;

export interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly deletionTimestamp?: string;
  readonly [field: string]: unknown;
}

/** Any Kubernetes object as it came, of which only the metadata has been checked. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

export interface Requester {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Review {
  readonly uid: string;
  readonly resource: ReviewedResource;
  readonly subresource: Subresource;
  readonly operation: Operation;
  /** Empty before the API server has named an object that was sent with `generateName`. */
  readonly name: string;
  /** For a Namespace: its own name. */
  readonly namespace: string;
  readonly requester: Requester;
  readonly dryRun: boolean;
  /** Absent on DELETE. */
  readonly object?: KubeObject;
  /** Absent on CREATE. */
  readonly oldObject?: KubeObject;
  /** The fields of `request` that expressions may read: kind, resource, name, operation, userInfo, dryRun, options ... */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/**
 * What expressions may read of `request`, by the names that ValidatingAdmissionPolicy gives it.
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#validation-expression
 */
export const requestAttributes = [
  'kind',
  'resource',
  'subResource',
  'requestKind',
  'requestResource',
  'requestSubResource',
  'name',
  'namespace',
  'operation',
  'userInfo',
  'dryRun',
  'options',
] as const;
