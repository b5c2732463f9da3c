// Answers access reviews and token reviews. Reviews are never stored.
// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { badRequestError, invalidError, type ApiError } from '../api-error.ts';
import { textAt } from '../kinds/column.ts';
import type { Tokens, User } from './users.ts';
import type { Access } from './authorizer.ts';
import { textsAt, type Action } from '../../base/rbac-rules.ts';

/** A kind that can only be created. The answer to the create is the review. */
export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly isNamespaced: boolean;
  /** Returns the whole review. The caller has checked that the user may create it. Throws an ApiError. */
  answer(user: User, body: JsonObject, namespace: string | undefined): JsonObject;
}

type Answer = (user: User, spec: JsonObject, namespace: string | undefined) => JsonObject;

const [authentication, authorization] = ['authentication.k8s.io', 'authorization.k8s.io'];

export function createReviews(access: Access, tokens: Tokens): readonly ReviewKind[] {
  const ofOneself: Answer = (user, spec, namespace) => {
    return { spec, status: { allowed: access.allows(user, actionOf(spec, namespace)) } };
  };
  const ofOthers: Answer = (_user, spec, namespace) => ofOneself(subjectOf(spec), spec, namespace);
  return [
    reviewKind(authorization, 'SubjectAccessReview', ofOthers),
    reviewKind(authorization, 'LocalSubjectAccessReview', ofOthers),
    reviewKind(authorization, 'SelfSubjectAccessReview', ofOneself),
    reviewKind(authorization, 'SelfSubjectRulesReview', (user, spec) => rulesReview(access, user, spec)),
    reviewKind(authentication, 'SelfSubjectReview', (user) => ({ status: { userInfo: user } })),
    reviewKind(authentication, 'TokenReview', (_user, spec) => tokenReview(tokens, spec)),
  ];
}

function reviewKind(group: string, kind: string, answer: Answer): ReviewKind {
  const singular = kind.toLowerCase();
  const names = { group, version: 'v1', kind, plural: `${singular}s`, singular };
  const ask: ReviewKind['answer'] = (user, body, namespace) => {
    const spec = ownMember(body, 'spec');
    const metadata = namespace === undefined ? {} : { namespace };
    const answered = answer(user, isJsonObject(spec) ? spec : {}, namespace);
    return { kind, apiVersion: `${group}/v1`, metadata, ...answered };
  };
  return { ...names, isNamespaced: kind.startsWith('Local'), answer: ask };
}

function subjectOf(spec: JsonObject): User {
  const [username, groups] = [textAt(spec, 'user'), textsAt(spec, 'groups')];
  if (username !== '' || groups.length > 0) return { username, groups };
  throw incomplete('user', 'at least one of user or group must be specified');
}

function incomplete(name: string, why: string): ApiError {
  const cause = { reason: 'FieldValueInvalid', message: `Invalid value: ${why}`, field: `spec.${name}` };
  return invalidError({ group: authorization, kind: 'SubjectAccessReview' }, '', [cause]);
}

/** A LocalSubjectAccessReview may ask about its own namespace only. */
function actionOf(spec: JsonObject, namespace: string | undefined): Action {
  const [path, resource] = [ownMember(spec, 'nonResourceAttributes'), ownMember(spec, 'resourceAttributes')];
  if (isJsonObject(path) === isJsonObject(resource))
    throw incomplete('resourceAttributes', 'exactly one of it and nonResourceAttributes must be specified');
  if (isJsonObject(path)) return { verb: textAt(path, 'verb'), path: textAt(path, 'path') };
  const at = (field: string): string => textAt(resource, field);
  if (namespace !== undefined && at('namespace') !== namespace)
    throw incomplete('resourceAttributes.namespace', 'must match metadata.namespace');
  const action = { verb: at('verb'), group: at('group'), resource: at('resource'), name: at('name') };
  return { ...action, subresource: at('subresource'), namespace: at('namespace') };
}

/** https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-rules-review-v1/ */
function rulesReview(access: Access, user: User, spec: JsonObject): JsonObject {
  const namespace = textAt(spec, 'namespace');
  if (namespace === '') throw badRequestError('no namespace on request');
  const rules = access.rulesOf(user, namespace);
  const about = (field: string): readonly JsonObject[] =>
    rules.filter((rule) => textsAt(rule, field).length > 0);
  const [resourceRules, nonResourceRules] = [about('resources'), about('nonResourceURLs')];
  return { spec: {}, status: { resourceRules, nonResourceRules, incomplete: false } };
}

function tokenReview(tokens: Tokens, spec: JsonObject): JsonObject {
  const user = tokens.find(textAt(spec, 'token'));
  if (user === undefined) return { spec, status: { user: {}, error: 'invalid bearer token' } };
  return { spec, status: { authenticated: true, user, audiences: ['https://kubernetes.default.svc'] } };
}
