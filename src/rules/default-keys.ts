// namespaces.defaults and secrets.defaults: labels and annotations that are added when missing.
import type { Evaluation, ExpressionScope, Work } from '../cel/expression.ts';
import { compiled, partly, refused, type CompileResult, type Path } from '../base/problem.ts';
import { isLabelValue } from '../base/kubernetes-names.ts';
import { keyPath, metadataMap, valueOf, type KubeObject } from '../base/metadata.ts';
import { quoted } from '../base/text.ts';
import { compileTemplate, goTemplateProblem } from '../cel/template.ts';
import { object as objectSchema, type Infer, type SchemaRule } from '../schema/schema.ts';
import { annotationTemplate, labelTemplate, metadataMapOf, writtenKey } from '../schema/common-fields.ts';
import { managedByLabel, managedByReeve, namespaceNameLabel, group } from '../schema/names.ts';
import { everyOperation, ruleForm } from './rule.ts';
import type { DefaultKey, KeyRule, Rule, RuledWrite, RuleViolation, StepContext } from './rule.ts';
import { comparedKey } from './fields.ts';
import { judgeKeptKey } from './immutable-keys.ts';

/** A policy must not set these keys: they control Reeve itself, or the API server sets them. */
const notOurs: SchemaRule<Readonly<Record<string, string>>> = {
  accepted: 'another key',
  mustNot: `set ${namespaceNameLabel} or keys of ${group}/`,
  cel: `self.all(key, !key.startsWith('${group}/') && key != '${namespaceNameLabel}')`,
  offender: (values) => {
    const key = Object.keys(values).find(
      (name) => name.startsWith(`${group}/`) || name === namespaceNameLabel,
    );
    return key === undefined ? undefined : [key];
  },
};

/** The label marks the objects of Reeve. */
const notManaged: SchemaRule<Readonly<Record<string, string>>> = {
  accepted: `a fixed value other than ${managedByReeve}`,
  mustNot: `set ${managedByLabel} to ${managedByReeve} or to a template`,
  cel: `!('${managedByLabel}' in self) || (self['${managedByLabel}'] != '${managedByReeve}' && !self['${managedByLabel}'].contains('\${'))`,
  offender: (values) => {
    const value = Object.hasOwn(values, managedByLabel) ? values[managedByLabel] : undefined;
    return value === managedByReeve || value?.includes('${') === true ? [managedByLabel] : undefined;
  },
};

/** Defines labels and annotations with templates of their values. `are` begins the description of both: "to set …". */
export function keyTemplateFields(are: string, sees: string) {
  return {
    labels: metadataMapOf(
      `Labels ${are}, and their values. ${sees} A template must return a valid label value.`,
      labelTemplate('The value of the label: text, or a template with CEL in ${ }; $${ is a literal ${.'),
      [notOurs, notManaged],
      writtenKey('A label key.'),
    ),
    annotations: metadataMapOf(
      `Annotations ${are}, and their values. ${sees}`,
      annotationTemplate(
        'The value of the annotation: text, or a template with CEL in ${ }; $${ is a literal ${.',
      ),
      [notOurs],
      writtenKey('An annotation key.'),
    ),
  };
}

function keyTemplates(description: string, are: string, sees: string) {
  return objectSchema({ description, fields: keyTemplateFields(are, sees) });
}

export type DefaultsSpec = Infer<ReturnType<typeof keyTemplates>>;

const whereMissing = 'to set where the key is missing';

export const namespaceDefaults = ruleForm({
  id: 'namespaces.defaults',
  judges: 'namespaces',
  field: keyTemplates(
    'Labels and annotations to set where they are missing. On creation, and when an update removes one, the key must be present afterwards. Its value is free unless a rule says otherwise.',
    whereMissing,
    'CEL in ${ } sees namespaceObject, the Namespace itself, and on creation the userInfo, name, operation and dryRun of request. Example: "${request.userInfo.username}".',
  ),
  operations: everyOperation,
  precedence: 3,
  isAudited: true,
  isFulfilled: true,
  compile: (spec, definitions) =>
    compileDefaults('namespaces.defaults', spec, { ...scope, definitions }, quoted),
  examples: () => ({}),
});

export const secretDefaults = ruleForm({
  id: 'secrets.defaults',
  judges: 'secrets',
  field: keyTemplates(
    'Labels and annotations to set on a Secret where they are missing; never its data.',
    whereMissing,
    'CEL in ${ } sees namespaceObject, the Namespace of the Secret, and on creation the userInfo, name, operation and dryRun of request; never the Secret. Example: "${namespaceObject.metadata.labels[\'team\']}".',
  ),
  operations: everyOperation,
  precedence: 3,
  isFulfilled: true,
  // Values on Secrets are not shown, not even of annotations: kubectl apply stores the data there.
  // https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-kubernetes-io-last-applied-configuration
  compile: (spec, definitions) =>
    compileDefaults('secrets.defaults', spec, { ...scope, definitions }, () => 'another value'),
  examples: () => ({}),
});

const scope: ExpressionScope = {
  variables: ['namespaceObject', 'request'],
  requestFields: ['userInfo', 'name', 'operation', 'dryRun'],
};

function compileDefaults(
  rule: KeyRule,
  spec: DefaultsSpec,
  seen: ExpressionScope,
  reveal: (value: string) => string,
): readonly CompileResult<Rule>[] {
  const accepted =
    'text with CEL in ${ }, over namespaceObject and the userInfo, name, operation and dryRun of request';
  return partly(compileKeys(rule, spec, { scope: seen, accepted }), (keys) => defaultsRule(keys, reveal));
}

interface KeyTemplate {
  readonly scope: ExpressionScope;
  readonly accepted: string;
}

export function compileKeys(
  rule: KeyRule,
  spec: DefaultsSpec,
  template: KeyTemplate,
): readonly CompileResult<DefaultKey>[] {
  return (['labels', 'annotations'] as const).flatMap((field) =>
    Object.entries(spec[field] ?? {}).map(([key, source]) =>
      compileKey({ rule, field, key }, source, template),
    ),
  );
}

/** The path of the field in the spec that states the key. */
export function keySource({ rule, field, key }: Pick<DefaultKey, 'rule' | 'field' | 'key'>): Path {
  return ['spec', ...rule.split('.'), field, key];
}

export function renderDefault(
  { field, template }: DefaultKey,
  namespaceObject: KubeObject,
  review: Pick<RuledWrite, 'attributes'>,
  budget: Work,
): Evaluation<string> {
  const rendered = template.render({ namespaceObject, request: review.attributes }, budget);
  if (rendered.ok && field === 'labels' && !isLabelValue(rendered.value)) {
    return { ok: false, reason: 'failed', message: 'the result is not a label value' };
  }
  return rendered;
}

function defaultsRule(keys: readonly DefaultKey[], reveal: (value: string) => string): Rule {
  return {
    shape: 'step',
    defaults: keys,
    judge: (context) => keys.flatMap((key) => judgeKey(key, context, reveal)),
    compared: (object) =>
      keys.map(({ field, key }) => {
        const compared = comparedKey(object, field, key, 'a value');
        const isShown = reveal === quoted || compared.found === 'nothing';
        return isShown ? compared : { ...compared, found: 'a value' };
      }),
  };
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

/** Returns whether the key is demanded. Only a policy with Deny demands missing keys. Other policies only set them. */
function isDemanded(key: DefaultKey, before: string | undefined, context: StepContext): boolean {
  if (!context.actions.includes('Deny')) return false;
  if (context.review.operation === 'CREATE' || before !== undefined) return true;
  return !context.hasGrace && !key.readsRequest;
}

function missing(key: DefaultKey, { namespaceObject, review, budget }: StepContext): RuleViolation {
  const rendered = renderDefault(key, namespaceObject, review, budget);
  const accepted = rendered.ok
    ? `${quoted(rendered.value)}, the default${key.readsRequest ? '' : ', or another value'}`
    : `a value; its default cannot be computed: ${rendered.message}`;
  const violation = { path: keyPath(key.field, key.key), found: 'nothing', accepted, identity: undefined };
  return { ...violation, ...causeOf(key, rendered, namespaceObject) };
}

/** Says why a key lacks its value: the mutating webhook did not set it, or other labels and annotations are missing. */
export function causeOf(
  { template }: DefaultKey,
  rendered: Evaluation<string>,
  namespaceObject: KubeObject,
): Pick<RuleViolation, 'isSetByReeve' | 'isConsequence' | 'dueTo'> {
  if (rendered.ok) return { isSetByReeve: true };
  if (rendered.reason !== 'missing') return { isConsequence: true };
  const lacking = template.lookups.filter(
    (lookup) => valueOf(metadataMap(namespaceObject, lookup.field), lookup.key) === undefined,
  );
  return { dueTo: lacking.map((lookup) => keyPath(lookup.field, lookup.key)) };
}

/** Demands a value only if the default reads the request, and only for the policy that sets the default. */
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

function compileKey(
  place: Pick<DefaultKey, 'rule' | 'field' | 'key'>,
  source: string,
  { scope: visible, accepted }: KeyTemplate,
): CompileResult<DefaultKey> {
  const result = compileTemplate(source, visible);
  const path = keySource(place);
  if (!result.ok) {
    const { message: found, offset } = result.problem;
    return refused([{ path, found, accepted, offset }]);
  }
  const { template } = result;
  const problems = goTemplateProblem(template, path);
  if (problems.length > 0) return refused(problems);
  const readsRequest = template.reads.has('request');
  return compiled({ ...place, isEnforced: place.rule === 'namespaces.enforced', template, readsRequest });
}
