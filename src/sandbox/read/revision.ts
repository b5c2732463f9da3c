// The version that a request asks for.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
import { ApiError, badRequestError, invalidError } from '../api-error.ts';

/** Undefined where any will do: none is given, or 0. Throws an ApiError, also for what is still to come. */
export function revisionOf(query: URLSearchParams, { revision }: { revision: number }): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (!/^\d{0,15}$/.test(text))
    throw badRequestError(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}`,
    );
  const asked = Number(text);
  if (asked > revision) throw tooLarge(asked, revision);
  return asked === 0 ? undefined : asked;
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#unavailable-resource-versions */
function tooLarge(asked: number, current: number): ApiError {
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' };
  return new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${cause.message}: ${asked}, current: ${current}`,
    details: { causes: [cause], retryAfterSeconds: 1 },
  });
}

export function forbiddenOption(field: string, why: string): ApiError {
  const cause = { reason: 'FieldValueForbidden', message: `Forbidden: ${field} ${why}`, field };
  return invalidError({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [cause]);
}
