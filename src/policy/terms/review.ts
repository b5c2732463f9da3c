// Describes the input of the engine: one admission request, decoded and checked, as plain data.
import type { RuledWrite, ReviewedResource } from '../../rules/rule.ts';
import { providerResources, type ProviderKind } from './provider-id.ts';

/** An intent is no provider itself. A write of one is judged as a write of each binding that names it. */
export const intentResource = 'securityintents';
/** Our own kinds. Their writes decide about objects in namespaces. */
export type ProviderResource = (typeof providerResources)[ProviderKind] | typeof intentResource;
const ownResources: readonly ProviderResource[] = [...Object.values(providerResources), intentResource];
export type Subresource = '' | 'status' | 'finalize';

interface AdmissionRequest extends RuledWrite {
  readonly uid: string;
  readonly subresource: Subresource;
  /** Empty before the API server has named an object that was sent with `generateName`. */
  readonly name: string;
  /** For a Namespace: its own name. Empty for all other cluster-scoped kinds. */
  readonly namespace: string;
  readonly dryRun: boolean;
}

export interface Review extends AdmissionRequest {
  readonly resource: ReviewedResource;
}

export interface ProviderReview extends AdmissionRequest {
  readonly resource: ProviderResource;
}

export type AnyReview = Review | ProviderReview;

export function isProviderReview(review: AnyReview): review is ProviderReview {
  return isProviderResource(review.resource);
}

export function isProviderResource(resource: AnyReview['resource']): resource is ProviderResource {
  return ownResources.some((each) => each === resource);
}

/**
 * The fields of `request` that expressions may read, named as in ValidatingAdmissionPolicy.
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
