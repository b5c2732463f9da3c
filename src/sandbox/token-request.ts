// Gives out tokens of service accounts.
// https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
import { ownMember } from '../base/json.ts';
import { invalidError, notFoundError } from './api-error.ts';
import type { ObjectAnswer } from './read/answer.ts';
import type { ObjectRequest } from './request.ts';
import { serviceAccountIdentity, type Tokens } from './tokens.ts';
import type { WriteContext } from './write/context.ts';

const usualSeconds = 3600;
const fewestSeconds = 600;
const mostSeconds = 2 ** 32;

export function tokenFor(
  { store, now }: WriteContext,
  { resource, namespace = '', name = '', body }: ObjectRequest,
  tokens: Tokens,
): ObjectAnswer {
  const account = store.get(resource, namespace, name);
  if (account === undefined) throw notFoundError(resource, name);
  const seconds = secondsIn(body);
  const end = new Date(now().getTime() + seconds * 1000);
  const { uid = '' } = account.metadata;
  const token = tokens.issue(
    serviceAccountIdentity(namespace, name, uid),
    () => now() < end && store.get(resource, namespace, name)?.metadata.uid === uid,
  );
  return {
    kind: 'object',
    code: 201,
    object: {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace },
      spec: { expirationSeconds: seconds },
      status: { token, expirationTimestamp: end.toISOString() },
    },
  };
}

function secondsIn(body: unknown): number {
  const seconds = ownMember(ownMember(body, 'spec'), 'expirationSeconds') ?? usualSeconds;
  const isTime = typeof seconds === 'number' && seconds >= fewestSeconds && seconds <= mostSeconds;
  if (isTime) return seconds;
  const message = 'Invalid value: may not specify a duration less than 10 minutes';
  const cause = { reason: 'FieldValueInvalid', message, field: 'spec.expirationSeconds' };
  throw invalidError({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [cause]);
}
