// Says what each rule of a policy says of an existing namespace today, by the audit of the reconciler.
import type { PolicyException } from '../../api/namespace-policy/namespace-policy.ts';
import type { QuotaSpec } from '../../rules/namespace-quota.ts';
import type { RuleTraits } from '../../rules/rule.ts';
import type { RuleId } from '../../rules/rules.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { isTerminating, keyPath, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import { clipped, quoted } from '../../base/text.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { auditNamespace, auditObject } from '../../policy/decide/audit.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { compileException, isExcepted } from '../../policy/terms/exceptions.ts';
import { matchNamespace } from '../../policy/terms/match.ts';
import { roleBindingType, roleType } from '../../policy/terms/object-key.ts';
import type { RuleOutcome, TracedViolation } from '../../policy/terms/trace.ts';
import type { ExplainedRule } from '../output-schemas/explanation.ts';
import type { LookedAt } from './looked-at.ts';

export type PolicyDefinition = ProviderDefinition & { readonly kind: 'NamespacePolicy' };
type Said = Omit<ExplainedRule, 'policy' | 'rule'>;

/** The policy matches the namespace. */
export function explainedRules(
  definition: PolicyDefinition,
  namespaceObject: KubeObject,
  at: LookedAt,
): readonly ExplainedRule[] {
  const { compiled: policy } = definition;
  const name = nameOf(namespaceObject);
  const row = (rule: RuleId, say: () => Said): ExplainedRule => {
    const exception = exceptionOf(definition, rule, name, at.now);
    return { policy: policy.name, rule, ...(exception === undefined ? say() : exceptedBy(exception)) };
  };
  const traced = tracedBy((trace) =>
    auditNamespace(policy, namespaceObject, { now: at.now, budget: unlimitedBudget, trace }),
  );
  const onNamespace = (rule: RuleId, { judgedWhen = 'the namespace is written' }: RuleTraits): Said => {
    const { quota } = definition.object.spec.namespaces ?? {};
    if (rule === 'namespaces.quota' && quota !== undefined)
      return quotaSays(quota, policy, namespaceObject, at);
    const [outcome] = traced.get(rule) ?? [];
    return outcome === undefined ? notChecked(`judged when ${judgedWhen}`) : saidBy(outcome.fresh);
  };
  const onObjects = (rule: RuleId, resource: 'roles' | 'rolebindings'): Said =>
    objectsSay(rule, resource, policy, namespaceObject, at);
  return [
    // Contents are explained object by object.
    ...policy.rules.namespaces
      .filter(({ id }) => id !== 'contents')
      .map(({ id, traits }) => row(id, () => onNamespace(id, traits))),
    // A command never reads all Secrets.
    ...policy.rules.secrets.map(({ id }) => row(id, () => notChecked('judged when a Secret is written'))),
    ...policy.rules.roles.map(({ id }) => row(id, () => onObjects(id, 'roles'))),
    ...policy.rules.rolebindings.map(({ id }) => row(id, () => onObjects(id, 'rolebindings'))),
  ];
}

const types = { roles: roleType, rolebindings: roleBindingType } as const;

/** Existing Roles and RoleBindings are judged as the reconciler does. */
// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function objectsSay(
  rule: RuleId,
  resource: keyof typeof types,
  policy: CompiledPolicy,
  namespaceObject: KubeObject,
  { state, now }: LookedAt,
): Said {
  const type = types[resource];
  const unread = state.unread.find(({ kind }) => kind === type.kind);
  if (unread !== undefined) return notChecked(`${type.kind}: ${unread.reason}`);
  const objects = state
    .objects(type)
    .filter(({ metadata }) => metadata.namespace === nameOf(namespaceObject));
  const violations = objects.flatMap((each) => {
    const traced = tracedBy((trace) =>
      auditObject(policy, resource, each, namespaceObject, { now, budget: unlimitedBudget, trace }),
    );
    const found = (traced.get(rule) ?? []).flatMap(({ fresh }) => fresh);
    const shown = `${type.kind} ${clipped(nameOf(each))}`;
    return found.map((violation) => ({ ...violation, path: `${shown} ${violation.path}` }));
  });
  return saidBy(violations);
}

function notChecked(message: string): Said {
  return { outcome: 'not checked', message };
}

function tracedBy(
  work: (trace: (outcome: RuleOutcome) => void) => unknown,
): ReadonlyMap<string, readonly RuleOutcome[]> {
  const outcomes: RuleOutcome[] = [];
  work((outcome) => void outcomes.push(outcome));
  return Map.groupBy(outcomes, ({ rule }) => rule);
}

export function exceptionOf(
  { object: { spec } }: PolicyDefinition,
  rule: RuleId,
  namespace: string,
  now: Date,
): PolicyException | undefined {
  return spec.exceptions?.find((each) => isExcepted([compileException(each)], rule, namespace, now));
}

export function exceptedBy({ expiresAt, reason }: PolicyException): Said {
  return {
    outcome: 'excepted',
    ...(reason === undefined ? {} : { message: clipped(reason, maxReason) }),
    ...(expiresAt === undefined ? {} : { until: expiresAt }),
  };
}

const maxReason = 200;

export function saidBy(violations: readonly TracedViolation[]): Said {
  if (violations.length === 0) return { outcome: 'holds' };
  return {
    outcome: 'violated',
    message: violations.map(violationText).join('; '),
    compared: violations.map(({ path, found, accepted }) => ({ path, found, accepted })),
  };
}

function violationText({ path, found, accepted, message }: TracedViolation): string {
  return message ?? `${path}: found ${found}; accepted: ${accepted}`;
}

/** No single namespace exceeds a quota, so an audit leaves it out. */
function quotaSays(
  { label, max }: QuotaSpec,
  policy: CompiledPolicy,
  namespaceObject: KubeObject,
  { cluster }: LookedAt,
): Said {
  const value = valueOf(labelsOf(namespaceObject), label);
  if (value === undefined)
    return { outcome: 'holds', message: `without the label ${label}, it does not count` };
  const snapshot = cluster.snapshot();
  const count = [...snapshot.namespaces()].filter(
    (each) =>
      valueOf(labelsOf(each), label) === value &&
      !isTerminating(each) &&
      isManaged(each, snapshot) &&
      matchNamespace(policy.match, each).kind === 'yes',
  ).length;
  const message = `${count} of ${max} namespaces with ${clipped(label)}=${clipped(value)}`;
  if (count <= max) return { outcome: 'holds', message };
  const found = `${count} namespaces with ${quoted(value)}`;
  const accepted = `at most ${max} namespaces with one value`;
  return { outcome: 'violated', message, compared: [{ path: keyPath('labels', label), found, accepted }] };
}
