// Reads and checks the options of a write, and shows them to webhooks.
import { ownMember, type JsonObject } from '../../base/json.ts';
import { invalidError } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';

const propagationPolicies: readonly unknown[] = ['Orphan', 'Background', 'Foreground', null];

/** Throws an ApiError of 422. */
export function checkOptions(request: ObjectRequest): void {
  const { query, patchType } = request;
  const wrong = {
    dryRun: dryRuns(request).some((value) => value !== 'All'),
    force: query.has('force') && patchType !== 'apply',
    propagationPolicy: !propagationPolicies.includes(propagationPolicyOf(request)),
  };
  const causes = Object.entries(wrong)
    .filter(([, isWrong]) => isWrong)
    .map(([field]) => ({ reason: 'FieldValueInvalid', message: 'Invalid value for this request', field }));
  if (causes.length > 0) throw invalidError({ group: 'meta.k8s.io', kind: 'Options' }, '', causes);
}

export function propagationPolicyOf(request: ObjectRequest): unknown {
  return request.query.get('propagationPolicy') ?? optionInBody(request, 'propagationPolicy') ?? null;
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run */
export function isDryRun(request: ObjectRequest): boolean {
  return dryRuns(request).length > 0;
}

function dryRuns(request: ObjectRequest): readonly unknown[] {
  return [request.query.getAll('dryRun'), optionInBody(request, 'dryRun') ?? []].flat();
}

/** The body of a DELETE holds only options. */
function optionInBody({ verb, body }: ObjectRequest, key: string): unknown {
  return verb.startsWith('delete') ? ownMember(body, key) : undefined;
}

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request */
export function optionsOf(
  request: ObjectRequest,
  kind: 'CreateOptions' | 'UpdateOptions' | 'DeleteOptions',
): JsonObject {
  const texts = ['fieldManager', 'fieldValidation'].flatMap((key) => {
    const value = request.query.get(key);
    return value === null ? [] : [[key, value] as const];
  });
  const dryRun = isDryRun(request) ? { dryRun: ['All'] } : {};
  return { kind, apiVersion: 'meta.k8s.io/v1', ...dryRun, ...Object.fromEntries(texts) };
}
