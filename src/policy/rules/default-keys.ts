// namespaces.defaults and secrets.defaults: labels and annotations that are added when missing.
import type { DefaultsSpec } from '../../api/namespace-policy/namespace-policy.ts';
import type { Evaluation, ExpressionScope } from '../../cel/expression.ts';
import { compiled, refused, type CompileResult } from '../../base/problem.ts';
import { isLabelValue } from '../../schema/kubernetes-names.ts';
import { keyPath, metadataMap, valueOf, type MetadataField } from '../../base/metadata.ts';
import type { Budget } from '../terms/budget.ts';
import { quoted } from '../../base/text.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Review } from '../terms/review.ts';
import type { RuleViolation, Rule, StepContext } from './rule.ts';
import { compileTemplate, goTemplateProblem, type Template } from '../../cel/template.ts';
import { judgeKeptKey } from './immutable-keys.ts';

export interface DefaultKey {
  readonly field: MetadataField;
  readonly key: string;
  readonly template: Template;
  /** Such a default records the creator: set on CREATE, demanded by value, and never changed afterwards. */
  readonly readsRequest: boolean;
}

const scope: ExpressionScope = {
  variables: ['namespaceObject', 'request'],
  requestFields: ['userInfo', 'name', 'operation', 'dryRun'],
};

export function compileDefaults(
  defaults: DefaultsSpec | undefined,
  block: 'namespaces' | 'secrets',
): readonly CompileResult<DefaultKey>[] {
  return (['labels', 'annotations'] as const).flatMap((field) =>
    Object.entries(defaults?.[field] ?? {}).map(([key, source]) => compileDefault(block, field, key, source)),
  );
}

export function renderDefault(
  { field, template }: DefaultKey,
  namespaceObject: KubeObject,
  review: Review,
  budget: Budget,
): Evaluation<string> {
  const rendered = template.render({ namespaceObject, request: review.attributes }, budget);
  if (rendered.ok && field === 'labels' && !isLabelValue(rendered.value)) {
    return { ok: false, reason: 'failed', message: 'the result is not a label value' };
  }
  return rendered;
}

export function defaultsRule(
  id: 'namespaces.defaults' | 'secrets.defaults',
  keys: readonly DefaultKey[],
): Rule {
  // Values on Secrets are not shown, not even of annotations: kubectl apply stores the data there.
  // https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-kubernetes-io-last-applied-configuration
  const reveal = id === 'namespaces.defaults' ? quoted : () => 'another value';
  return { shape: 'step', id, judge: (context) => keys.flatMap((key) => judgeKey(key, context, reveal)) };
}

function judgeKey(
  key: DefaultKey,
  context: StepContext,
  reveal: (value: string) => string,
): readonly RuleViolation[] {
  const { object, oldObject } = context.review;
  if (object === undefined || (key.readsRequest && context.review.isOwnWrite === true)) return [];
  const before = valueOf(metadataMap(oldObject, key.field), key.key);
  const after = valueOf(metadataMap(object, key.field), key.key);
  if (key.readsRequest && before !== undefined && oldObject !== undefined) {
    return judgeKeptKey(key.field, key.key, oldObject, object).map((violation) => ({
      ...violation,
      found: after === undefined ? 'nothing' : reveal(after),
      accepted: reveal === quoted ? violation.accepted : 'the value it was set to',
    }));
  }
  if (!context.matchesNew) return [];
  if (after === undefined) return isDemanded(key, before, context) ? [missing(key, context)] : [];
  return judgeValue(key, after, context, reveal);
}

/** Demands missing keys only for a policy with Deny. For others they are set, but not demanded. */
function isDemanded(key: DefaultKey, before: string | undefined, context: StepContext): boolean {
  if (!context.actions.includes('Deny')) return false;
  if (context.review.operation === 'CREATE' || before !== undefined) return true;
  return !context.matchedOld && !key.readsRequest;
}

function missing(key: DefaultKey, { namespaceObject, review, budget }: StepContext): RuleViolation {
  const rendered = renderDefault(key, namespaceObject, review, budget);
  const accepted = rendered.ok
    ? `${quoted(rendered.value)}, the default${key.readsRequest ? '' : ', or another value'}`
    : `a value; its default cannot be computed: ${rendered.message}`;
  const violation = { path: keyPath(key.field, key.key), found: 'nothing', accepted, identity: undefined };
  if (rendered.ok) return { ...violation, isSetByReeve: true };
  if (rendered.reason !== 'missing') return { ...violation, isConsequence: true };
  const lacking = key.template.lookups.filter(
    (lookup) => valueOf(metadataMap(namespaceObject, lookup.field), lookup.key) === undefined,
  );
  return { ...violation, dueTo: lacking.map((lookup) => keyPath(lookup.field, lookup.key)) };
}

/** A value is demanded only when the default reads the request, and only by the policy that sets it. */
function judgeValue(
  key: DefaultKey,
  value: string,
  context: StepContext,
  reveal: (value: string) => string,
): readonly RuleViolation[] {
  if (context.review.operation !== 'CREATE' || !key.readsRequest) return [];
  if (!context.ownsDefault(key.field, key.key)) return [];
  const rendered = renderDefault(key, context.namespaceObject, context.review, context.budget);
  if (rendered.ok && rendered.value === value) return [];
  const accepted = rendered.ok
    ? quoted(rendered.value)
    : `its default, which cannot be computed: ${rendered.message}`;
  const path = keyPath(key.field, key.key);
  return [{ path, found: reveal(value), accepted, identity: undefined, isExact: true }];
}

function compileDefault(
  block: string,
  field: MetadataField,
  key: string,
  source: string,
): CompileResult<DefaultKey> {
  const result = compileTemplate(source, scope);
  const path = ['spec', block, 'defaults', field, key];
  if (result.ok) {
    const { template } = result;
    const problems = goTemplateProblem(template, path);
    if (problems.length > 0) return refused(problems);
    return compiled({ field, key, template, readsRequest: template.reads.has('request') });
  }
  return refused([
    {
      path,
      found: result.problem.message,
      accepted:
        'text with CEL in ${ }, over namespaceObject and the userInfo, name, operation and dryRun of request',
      offset: result.problem.offset,
    },
  ]);
}
