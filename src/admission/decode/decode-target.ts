// Reads what a request is about: which resource, which subresource, which operation.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { group as ourGroup, version as ourVersion } from '../../api/names.ts';
import type { AnyReview, Operation, ProviderResource, Subresource } from '../../policy/terms/review.ts';
import {
  invalidReview,
  decoded,
  notDecoded,
  forbiddenReview,
  wrongType,
  type Decoding,
  type ReviewProblem,
  isAbsent,
} from './review-problem.ts';

export interface ReviewTarget {
  readonly resource: AnyReview['resource'];
  readonly subresource: Subresource;
  readonly operation: Operation;
  readonly kind: GroupVersionKind;
}

/** A request that no policy can be about: sent here by mistake. */
export interface UnjudgedTarget {
  readonly stray: true;
  readonly problem: ReviewProblem;
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface Guarded extends GroupVersionKind {
  readonly resource: AnyReview['resource'];
  readonly subresources: readonly Subresource[];
}

const rbacGroup = 'rbac.authorization.k8s.io';
const guarded: readonly Guarded[] = [
  {
    resource: 'namespaces',
    group: '',
    version: 'v1',
    kind: 'Namespace',
    subresources: ['', 'status', 'finalize'],
  },
  { resource: 'secrets', group: '', version: 'v1', kind: 'Secret', subresources: [''] },
  { resource: 'roles', group: rbacGroup, version: 'v1', kind: 'Role', subresources: [''] },
  { resource: 'rolebindings', group: rbacGroup, version: 'v1', kind: 'RoleBinding', subresources: [''] },
  ourKind('namespacepolicies', 'NamespacePolicy'),
  ourKind('secretshares', 'SecretShare'),
];

function ourKind(resource: ProviderResource, kind: string): Guarded {
  return { resource, group: ourGroup, version: ourVersion, kind, subresources: [''] };
}

export function decodeTarget(request: JsonObject): Decoding<ReviewTarget | UnjudgedTarget> {
  const { operation } = request;
  if (!isKnownOperation(operation)) {
    return notDecoded(invalidReview('request.operation', 'accepted: CREATE, UPDATE, DELETE'));
  }
  const resource = decodeResource(request['resource']);
  if (!resource.ok) return resource;
  if (resource.value === undefined)
    return stray(invalidReview('request.resource', 'no policy is about this resource'));
  if (operation === 'CONNECT')
    return stray(invalidReview('request.operation', 'accepted: CREATE, UPDATE, DELETE'));
  const subresource = decodeSubresource(request['subResource'], resource.value);
  if (!subresource.ok) {
    // The status of our own kinds is ours to write, and no hook of ours asks for it.
    return resource.value.group === ourGroup ? stray(subresource.problem) : subresource;
  }
  const problem = kindProblem(request['kind'], resource.value);
  if (problem !== undefined) return notDecoded(problem);
  return decoded({
    resource: resource.value.resource,
    subresource: subresource.value,
    operation,
    kind: resource.value,
  });
}

function stray(problem: ReviewProblem): Decoding<UnjudgedTarget> {
  return decoded({ stray: true, problem });
}

function isKnownOperation(value: unknown): value is Operation | 'CONNECT' {
  return value === 'CREATE' || value === 'UPDATE' || value === 'DELETE' || value === 'CONNECT';
}

/** Undefined for a resource that is not ours. */
function decodeResource(value: unknown): Decoding<Guarded | undefined> {
  if (!isJsonObject(value)) return notDecoded(wrongType('request.resource', value, 'an object'));
  const { group, version, resource } = value;
  if (
    typeof resource !== 'string' ||
    typeof version !== 'string' ||
    !(isAbsent(group) || typeof group === 'string')
  ) {
    return notDecoded(invalidReview('request.resource', 'accepted: group, version and resource as texts'));
  }
  return decoded(
    guarded.find(
      (each) => each.resource === resource && each.group === (group ?? '') && each.version === version,
    ),
  );
}

function decodeSubresource(value: unknown, { subresources }: Guarded): Decoding<Subresource> {
  if (!isAbsent(value) && typeof value !== 'string') {
    return notDecoded(wrongType('request.subResource', value, 'a text'));
  }
  const known = subresources.find((each) => each === (value ?? ''));
  // Namespaces were taken over through subresources that nobody had thought of (CVE-2026-30963, CVE-2026-55636).
  if (known === undefined)
    return notDecoded(forbiddenReview('request.subResource', 'this subresource is not known'));
  return decoded(known);
}

/** The resource already says the kind, so one that is not there is no doubt; another one is. */
function kindProblem(value: unknown, expected: Guarded): ReviewProblem | undefined {
  if (isAbsent(value)) return undefined;
  if (!isJsonObject(value)) return wrongType('request.kind', value, 'an object');
  const isExpected =
    (value['group'] ?? '') === expected.group &&
    value['version'] === expected.version &&
    value['kind'] === expected.kind;
  return isExpected ? undefined : invalidReview('request.kind', 'it is not the kind of request.resource');
}
