// Says how each rule of a policy judges an existing namespace today, by the audit of the reconciler.
import type { PolicyException } from '../../api/namespace-policy/namespace-policy.ts';
import {
  exceededBy,
  namespaceQuota,
  quotaExcess,
  usersByValue,
  type QuotaMember,
  type QuotaSpec,
} from '../../rules/namespace-quota.ts';
import type { Rule, RuleTraits } from '../../rules/rule.ts';
import type { RuleId } from '../../rules/rules.ts';
import { type KubeObject, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { quotaMembers } from '../../policy/authors/provider-write.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import { type PolicyDefinition, quotaIn } from '../../policy/compile/load-provider.ts';
import { auditNamespace, auditObject } from '../../policy/decide/audit.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { compileException, isExcepted } from '../../policy/terms/match.ts';
import { roleBindingType, roleType, type ObjectType } from '../../base/object-type.ts';
import { violationText, type RuleOutcome, type TracedViolation } from '../../policy/terms/review.ts';
import { listed } from '../../base/text.ts';
import type { ExplainedRule } from '../output-schemas/explanation.ts';
import type { LookedAt } from './looked-at.ts';

type Said = Omit<ExplainedRule, 'policy' | 'rule'>;

/** Other objects that rules count or judge, read once for all namespaces. */
interface RuleFacts {
  readonly quota: QuotaSpec | undefined;
  /** The names of the namespaces with each value of the label of the quota. */
  readonly users: ReadonlyMap<string, readonly string[]>;
  /** By their namespaces. */
  readonly objects: Readonly<Record<keyof typeof types, ReadonlyMap<unknown, readonly KubeObject[]>>>;
}

interface PolicyRules {
  /** Explains the rules of a policy in a namespace that the policy matches. */
  readonly rulesIn: (namespaceObject: KubeObject) => readonly ExplainedRule[];
  /** One violation for each value that exceeds the quota, as in a status. */
  readonly exceeded: readonly ExplainedRule[];
}

export function explainedPolicy(definition: PolicyDefinition, at: LookedAt): PolicyRules {
  const { compiled: policy } = definition;
  const quota = quotaIn(definition);
  const members = quota === undefined ? [] : quotaMembers(quota, policy, at.cluster.snapshot());
  const objectsOf = (type: ObjectType, rules: readonly Rule[]) =>
    Map.groupBy(rules.length === 0 ? [] : at.state.objects(type), ({ metadata }) => metadata.namespace);
  const facts = {
    quota,
    users: usersByValue(members),
    objects: {
      roles: objectsOf(roleType, policy.rules.roles),
      rolebindings: objectsOf(roleBindingType, policy.rules.rolebindings),
    },
  };
  return {
    rulesIn: (namespaceObject) => explainedRules(definition, namespaceObject, facts, at),
    exceeded: quota === undefined ? [] : exceededQuotas(quota, members, policy.name),
  };
}

function exceededQuotas(
  quota: QuotaSpec,
  members: readonly QuotaMember[],
  policy: string,
): readonly ExplainedRule[] {
  return exceededBy(quota, members).map(({ value, names }) => {
    const { message = '', ...said } = quotaSays(quota, value, names.length);
    return { policy, rule: namespaceQuota.id, ...said, message: `${message}: ${listed(names)}` };
  });
}

function explainedRules(
  definition: PolicyDefinition,
  namespaceObject: KubeObject,
  { quota, users, objects }: RuleFacts,
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
  const onNamespace = (
    rule: RuleId,
    { judgedWhen = 'the namespace is written', countsOthers }: RuleTraits,
  ): Said => {
    if (countsOthers === true && quota !== undefined) {
      const value = valueOf(labelsOf(namespaceObject), quota.label);
      return value === undefined ? uncounted(quota) : quotaSays(quota, value, users.get(value)?.length ?? 0);
    }
    const [outcome] = traced.get(rule) ?? [];
    return outcome === undefined ? notChecked(`judged when ${judgedWhen}`) : saidBy(outcome.fresh);
  };
  const onObjects = (rule: RuleId, resource: 'roles' | 'rolebindings'): Said =>
    objectsSay(rule, resource, objects[resource].get(name) ?? [], policy, namespaceObject, at);
  return [
    ...policy.rules.namespaces
      .filter(({ traits }) => traits.isShownByObjects !== true)
      .map(({ id, traits }) => row(id, () => onNamespace(id, traits))),
    // A command never reads all Secrets.
    ...policy.rules.secrets.map(({ id }) => row(id, () => notChecked('judged when a Secret is written'))),
    ...policy.rules.roles.map(({ id }) => row(id, () => onObjects(id, 'roles'))),
    ...policy.rules.rolebindings.map(({ id }) => row(id, () => onObjects(id, 'rolebindings'))),
  ];
}

const types = { roles: roleType, rolebindings: roleBindingType } as const;

/** Judges the existing Roles and RoleBindings as the reconciler does. */
// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function objectsSay(
  rule: RuleId,
  resource: keyof typeof types,
  objects: readonly KubeObject[],
  policy: CompiledPolicy,
  namespaceObject: KubeObject,
  { state, now }: LookedAt,
): Said {
  const type = types[resource];
  const unread = state.unread.find(({ kind }) => kind === type.kind);
  if (unread !== undefined) return notChecked(`${type.kind}: ${unread.reason}`);
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

function uncounted({ label }: QuotaSpec): Said {
  return { outcome: 'holds', message: `without the label ${label}, it does not count` };
}

/** Judges the quota here. An audit leaves quotas out, because no single namespace exceeds a quota. */
function quotaSays(quota: QuotaSpec, value: string, count: number): Said {
  const message = `${count} of ${quota.max} namespaces with ${clipped(quota.label)}=${clipped(value)}`;
  if (count <= quota.max) return { outcome: 'holds', message };
  return { outcome: 'violated', message, compared: [quotaExcess(quota, value, count)] };
}
