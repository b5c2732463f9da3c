// Applies the stored ValidatingAdmissionPolicies that have a binding.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
import type { KubeObject } from '../../base/kube-object.ts';
import { compileSelector } from '../../api/selector.ts';
import { withVariables } from '../../cel/expression.ts';
import { ApiError, forbiddenError } from '../api-error.ts';
import type { Kinds } from '../resource.ts';
import type { SandboxStore } from '../store.ts';
import { bindingsOf, type ReviewedWrite } from './reviewed-write.ts';
import {
  storedConfigurations,
  storedNamespace,
  type AdmissionPolicyBinding,
  type AdmissionPolicy,
} from './configurations.ts';
import {
  compiledAdmissionPolicy,
  type CompiledAdmissionPolicy,
  matchConditionsHold,
  evaluateCondition,
} from './expressions.ts';
import { matchesResources } from './matching.ts';

interface PolicyViolation {
  readonly message: string;
  readonly reason: string;
}

interface Stored {
  readonly store: SandboxStore;
  readonly kinds: Kinds;
}

/** Throws an ApiError for the first violation that a binding denies. Other violations warn at most. */
export function enforcePolicies({ store, kinds }: Stored, write: ReviewedWrite): void {
  const bindings = storedConfigurations(store, 'validatingadmissionpolicybindings');
  for (const policy of storedConfigurations(store, 'validatingadmissionpolicies')) {
    const compiled = compiledAdmissionPolicy(policy);
    if (typeof compiled === 'string' || !matchesResources(store, policy.spec.matchConstraints, write))
      continue;
    const bound = bindings.filter(
      ({ spec: { policyName, matchResources = {} } }) =>
        policyName === policy.metadata.name && matchesResources(store, matchResources, write),
    );
    for (const binding of bound)
      enforce(policy, binding, violationsFor({ store, kinds }, { policy, compiled, binding, write }), write);
  }
}

interface Bound {
  readonly policy: AdmissionPolicy;
  readonly compiled: CompiledAdmissionPolicy;
  readonly binding: AdmissionPolicyBinding;
  readonly write: ReviewedWrite;
}

/** A policy with parameters is evaluated once for each object that the binding refers to. */
function violationsFor({ store, kinds }: Stored, bound: Bound): readonly PolicyViolation[] {
  const { paramKind } = bound.policy.spec;
  const { paramRef } = bound.binding.spec;
  if (paramKind === undefined || paramRef === undefined) return violationsOf(store, bound, undefined);
  const { name, selector = {}, parameterNotFoundAction } = paramRef;
  const kind = kinds.ofKind(paramKind.apiVersion, paramKind.kind);
  const namespace = kind?.isNamespaced === true ? (paramRef.namespace ?? bound.write.namespace) : undefined;
  const isMeant = ({ metadata }: KubeObject): boolean =>
    name === undefined ? compileSelector(selector).matches(metadata.labels ?? {}) : metadata.name === name;
  const found = kind === undefined ? [] : store.list(kind, namespace).filter(isMeant);
  if (found.length > 0) return found.flatMap((params) => violationsOf(store, bound, params));
  const message =
    'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
  return parameterNotFoundAction === 'Deny' ? [{ message, reason: 'Invalid' }] : [];
}

function enforce(
  policy: AdmissionPolicy,
  { metadata, spec }: AdmissionPolicyBinding,
  objections: readonly PolicyViolation[],
  write: ReviewedWrite,
): void {
  const source = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${metadata.name}'`;
  for (const { message, reason } of objections) {
    if (spec.validationActions.includes('Warn')) write.warn(`Validation failed for ${source}: ${message}`);
    if (!spec.validationActions.includes('Deny')) continue;
    throw refusal(write, { message: `${source} denied request: ${message}`, reason });
  }
}

function violationsOf(
  store: SandboxStore,
  { policy: { spec }, compiled: { variables, validations }, write }: Bound,
  params: KubeObject | undefined,
): readonly PolicyViolation[] {
  const errorViolation = (message: string): readonly PolicyViolation[] =>
    spec.failurePolicy === 'Ignore' ? [] : [{ message, reason: 'Invalid' }];
  const given = { ...bindingsOf(write), params };
  const conditions = matchConditionsHold(spec, given);
  if (typeof conditions === 'string') return errorViolation(conditions);
  if (!conditions) return [];
  const { resource, namespace = '' } = write;
  const namespaceObject = resource.isNamespaced ? storedNamespace(store, namespace) : undefined;
  const bindings = withVariables({ ...given, namespaceObject }, variables);
  return validations.flatMap(({ isMet, explain, message, reason }) => {
    const outcome = evaluateCondition(isMet, bindings);
    if (typeof outcome === 'string') return errorViolation(outcome);
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

/** The text is that of a 403 whatever the reason: https://pkg.go.dev/k8s.io/apiserver/pkg/admission#NewForbidden */
function refusal({ resource, name, object }: ReviewedWrite, { message, reason }: PolicyViolation): ApiError {
  const shown = name || object?.metadata.name || 'Unknown';
  const { status } = forbiddenError(resource, shown, message, [{ reason: '', message }]);
  return new ApiError({ ...status, reason, code: codes.get(reason) ?? 422 });
}
