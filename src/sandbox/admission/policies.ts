// Judges a write by the ValidatingAdmissionPolicies that are stored and bound.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
import { withVariables } from '../../cel/expression.ts';
import { ApiError, forbidden } from '../api-error.ts';
import type { ObjectStore } from '../store/store.ts';
import { bindingsOf, type AdmittedWrite } from './admitted-write.ts';
import { configurations, storedNamespace, type Binding, type Policy } from './configurations.ts';
import { compiledPolicy, type CompiledPolicy } from './compiled-policy.ts';
import { isMeant, outcomeOf } from './conditions.ts';
import { matchesResources } from './matching.ts';

interface Objection {
  readonly message: string;
  readonly reason: string;
}

/** Throws an ApiError for the first objection that some binding enforces; of others the person who asked is warned at most. */
export function judgeByPolicies(store: ObjectStore, write: AdmittedWrite): void {
  const bindings = configurations(store, 'validatingadmissionpolicybindings');
  for (const policy of configurations(store, 'validatingadmissionpolicies')) {
    const compiled = compiledPolicy(policy);
    if (typeof compiled === 'string' || !matchesResources(store, policy.spec.matchConstraints, write))
      continue;
    const bound = bindings.filter(
      ({ spec: { policyName, matchResources = {} } }) =>
        policyName === policy.metadata.name && matchesResources(store, matchResources, write),
    );
    const objections = bound.length === 0 ? [] : objectionsTo(store, policy, compiled, write);
    for (const binding of bound) enforce(policy, binding, objections, write);
  }
}

function enforce(
  policy: Policy,
  { metadata, spec }: Binding,
  objections: readonly Objection[],
  write: AdmittedWrite,
): void {
  const source = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${metadata.name}'`;
  for (const { message, reason } of objections) {
    if (spec.validationActions.includes('Warn')) write.warn(`Validation failed for ${source}: ${message}`);
    if (!spec.validationActions.includes('Deny')) continue;
    throw refusal(write, { message: `${source} denied request: ${message}`, reason });
  }
}

function objectionsTo(
  store: ObjectStore,
  { spec }: Policy,
  { variables, validations }: CompiledPolicy,
  write: AdmittedWrite,
): readonly Objection[] {
  const failure = (message: string): readonly Objection[] =>
    spec.failurePolicy === 'Ignore' ? [] : [{ message, reason: 'Invalid' }];
  const conditions = isMeant(spec, bindingsOf(write));
  if (typeof conditions === 'string') return failure(conditions);
  if (!conditions) return [];
  const { resource, namespace = '' } = write;
  const namespaceObject = resource.isNamespaced ? storedNamespace(store, namespace) : undefined;
  const bindings = withVariables({ ...bindingsOf(write), namespaceObject }, variables);
  return validations.flatMap(({ isMet, explain, message, reason }) => {
    const outcome = outcomeOf(isMet, bindings);
    if (typeof outcome === 'string') return failure(outcome);
    const computed = explain?.evaluate(bindings);
    const text = computed?.ok === true ? String(computed.value).trim() : '';
    return outcome ? [] : [{ message: text || message, reason }];
  });
}

const codes: ReadonlyMap<string, number> = new Map([
  ['Unauthorized', 401],
  ['Forbidden', 403],
  ['RequestEntityTooLarge', 413],
]);

/** In the words of a 403 whatever the reason: https://pkg.go.dev/k8s.io/apiserver/pkg/admission#NewForbidden */
function refusal({ resource, name, object }: AdmittedWrite, { message, reason }: Objection): ApiError {
  const shown = name || object?.metadata.name || 'Unknown';
  const { failure } = forbidden(resource, shown, message, [{ reason: '', message }]);
  return new ApiError({ ...failure, reason, code: codes.get(reason) ?? 422 });
}
