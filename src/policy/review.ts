// What the engine is asked: one admission request, decoded and checked, as plain data.
import type { KubeObject } from '../api/kube-object.ts';

export type ReviewedResource = 'namespaces' | 'secrets' | 'roles' | 'rolebindings';
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';
export type Subresource = '' | 'status' | 'finalize';

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
  /** What Reeve itself is about to write: there is no request that a default could read. */
  readonly isOwnWrite?: true;
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
