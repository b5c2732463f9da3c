// Reads the target of a request: its resource, subresource and operation.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { group as ourGroup, version as ourVersion } from '../../schema/names.ts';
import { kindDefinitions } from '../../api/kinds.ts';
import type { AnyReview, Subresource } from '../../policy/terms/review.ts';
import type { Operation } from '../../rules/rule.ts';

export interface ReviewTarget {
  readonly resource: AnyReview['resource'];
  readonly subresource: Subresource;
  readonly operation: Operation;
  readonly kind: GroupVersionKind;
}

/** A request that no policy applies to, sent here by mistake. */
export interface UnjudgedTarget {
  readonly isUnjudged: true;
  readonly problem: ReviewProblem;
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface JudgedResource extends GroupVersionKind {
  readonly resource: AnyReview['resource'];
  readonly subresources: readonly Subresource[];
}

const rbacGroup = 'rbac.authorization.k8s.io';
export const judgedResources: readonly JudgedResource[] = [
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
  ...kindDefinitions.map(({ plural, kind }): JudgedResource => ({
    resource: plural,
    group: ourGroup,
    version: ourVersion,
    kind,
    subresources: [''],
  })),
];

export function decodeTarget(request: JsonObject): Decoding<ReviewTarget | UnjudgedTarget> {
  const { operation } = request;
  if (!isKnownOperation(operation)) {
    return notDecoded(invalidReview('request.operation', 'must be CREATE, UPDATE or DELETE'));
  }
  const resource = decodeResource(request['resource']);
  if (!resource.ok) return resource;
  if (resource.value === undefined)
    return unjudged(invalidReview('request.resource', 'no policy applies to this resource'));
  if (operation === 'CONNECT')
    return unjudged(invalidReview('request.operation', 'must be CREATE, UPDATE or DELETE'));
  const subresource = decodeSubresource(request['subResource'], resource.value);
  if (!subresource.ok) {
    // Only Reeve writes the status of providers, and its webhook configurations do not send it.
    return resource.value.group === ourGroup ? unjudged(subresource.problem) : subresource;
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

function unjudged(problem: ReviewProblem): Decoding<UnjudgedTarget> {
  return decoded({ isUnjudged: true, problem });
}

function isKnownOperation(value: unknown): value is Operation | 'CONNECT' {
  return value === 'CREATE' || value === 'UPDATE' || value === 'DELETE' || value === 'CONNECT';
}

/** Undefined for a resource that no policy applies to. */
function decodeResource(value: unknown): Decoding<JudgedResource | undefined> {
  if (!isJsonObject(value)) return notDecoded(wrongType('request.resource', value, 'an object'));
  const { group, version, resource } = value;
  if (
    typeof resource !== 'string' ||
    typeof version !== 'string' ||
    !(isAbsent(group) || typeof group === 'string')
  ) {
    return notDecoded(invalidReview('request.resource', 'must have group, version and resource as texts'));
  }
  return decoded(
    judgedResources.find(
      (each) => each.resource === resource && each.group === (group ?? '') && each.version === version,
    ),
  );
}

function decodeSubresource(value: unknown, { subresources }: JudgedResource): Decoding<Subresource> {
  if (!isAbsent(value) && typeof value !== 'string') {
    return notDecoded(wrongType('request.subResource', value, 'a text'));
  }
  const known = subresources.find((each) => each === (value ?? ''));
  // Attackers took over namespaces through forgotten subresources (CVE-2026-30963, CVE-2026-55636).
  if (known === undefined) return notDecoded(forbiddenReview('request.subResource', 'unknown subresource'));
  return decoded(known);
}

/** The resource implies the kind, so a missing kind is accepted and a different one is a problem. */
function kindProblem(value: unknown, expected: JudgedResource): ReviewProblem | undefined {
  if (isAbsent(value)) return undefined;
  if (!isJsonObject(value)) return wrongType('request.kind', value, 'an object');
  const isExpected =
    (value['group'] ?? '') === expected.group &&
    value['version'] === expected.version &&
    value['kind'] === expected.kind;
  return isExpected ? undefined : invalidReview('request.kind', 'must be the kind of request.resource');
}

// States a problem of an AdmissionReview. The refusal is inside the review, where failurePolicy does not apply.

export interface ReviewProblem {
  /** 400: the API server never sends this. 403: no user may do this. */
  readonly code: 400 | 403;
  /** From the root of the AdmissionReview. Contains field names only: a key can be as secret as a value. */
  readonly path: string;
  readonly text: string;
}

export function invalidReview(path: string, text: string): ReviewProblem {
  return { code: 400, path, text };
}

export function forbiddenReview(path: string, text: string): ReviewProblem {
  return { code: 403, path, text };
}

/** `found a list; accepted: a map of texts`: states the type of the value, never the value. */
export function wrongType(path: string, value: unknown, accepted: string): ReviewProblem {
  return invalidReview(path, `found ${describeType(value)}; accepted: ${accepted}`);
}

/** A decoded part of a review, or its first problem. */
export type Decoding<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: ReviewProblem };

export function decoded<T>(value: T): Decoding<T> {
  return { ok: true, value };
}

export function notDecoded<T>(problem: ReviewProblem): Decoding<T> {
  return { ok: false, problem };
}

/** Returns the first problem that `judge` finds in the list. */
export function firstProblem<T>(
  values: readonly T[],
  judge: (value: T, index: number) => ReviewProblem | undefined,
): ReviewProblem | undefined {
  for (const [index, value] of values.entries()) {
    const problem = judge(value, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns the first problem of a value that must be absent or a list of objects. */
export function objectListProblem(
  value: unknown,
  path: string,
  judge: (item: JsonObject, path: string) => ReviewProblem | undefined,
): ReviewProblem | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) return wrongType(path, value, 'a list of objects');
  return firstProblem(value, (item: unknown, index) => {
    const at = `${path}[${index}]`;
    return isJsonObject(item) ? judge(item, at) : wrongType(at, item, 'an object');
  });
}

export function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Go reads `null` like a missing field: as the zero value. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** Names the type of a value for messages. */
function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return value === '' ? 'empty text' : 'a text';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    default:
      return 'an object';
  }
}
