// The field `workloads` of bindings: its schema, and the one label selector that it means.
import { labelSelectorFields, type LabelRequirement, type LabelSelector } from '../../schema/selector.ts';
import type { Path, Problem } from '../../base/problem.ts';
import { expression } from '../../schema/common-fields.ts';
import { list, object, type Infer } from '../../schema/schema.ts';
import { joinedSelector } from './joined-selector.ts';
import { clipped } from '../../base/text.ts';
import { parseTree, type Node } from '../../cel/expression.ts';
import { isLabelKey, isLabelValue } from '../../base/kubernetes-names.ts';

export const workloads = object({
  description:
    'Which Pods of the namespaces the intents apply to, by their labels. All of matchLabels, matchExpressions and cel must hold. Without any of them, the intents apply to all Pods.',
  fields: {
    ...labelSelectorFields('Pod', '{app: shop}'),
    cel: list({
      description:
        'Conditions on the labels in CEL. All must hold. Only what a label selector can express is accepted: ==, !=, in, has(), && and !. As in a selector, != and !(… in …) also hold for a Pod without the label.',
      items: expression(
        'CEL over labels, the labels of the Pod. Example: labels["app"] in ["shop", "cart"] && !has(labels.debug).',
      ),
      maxItems: 16,
    }),
  },
});

export type WorkloadsSpec = Infer<typeof workloads>;

type WorkloadSelector =
  | { readonly ok: true; /** Undefined for all Pods. */ readonly selector: LabelSelector | undefined }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Returns the same selector for the same Pods, however the author describes them. */
export function workloadSelector(
  given: WorkloadsSpec = {},
  path: Path = ['spec', 'workloads'],
): WorkloadSelector {
  const { matchLabels = {}, matchExpressions = [], cel = [] } = given;
  const outcomes = cel.map((source, index) => requirementsOf(source, [...path, 'cel', index]));
  const problems = outcomes.flatMap((outcome) => (outcome.ok ? [] : outcome.problems));
  if (problems.length > 0) return { ok: false, problems };
  return joinedSelector(
    [
      ...Object.entries(matchLabels).map(([key, value]) => ({
        key,
        operator: 'In' as const,
        values: [value],
      })),
      ...matchExpressions,
      ...outcomes.flatMap((outcome) => (outcome.ok ? outcome.requirements : [])),
    ],
    path,
  );
}

// Turns a condition in CEL on the labels of a Pod into requirements of a label selector, or says why it cannot.

type Requirements =
  | { readonly ok: true; readonly requirements: readonly LabelRequirement[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

interface Refusal extends Pick<Problem, 'found' | 'accepted' | 'message'> {
  readonly offset: number;
}
type Part = LabelRequirement | Refusal;
type Operation = Extract<Node, { readonly kind: 'call' }>;

const accepted =
  'a condition on labels with ==, !=, in, has(), && and !, such as labels["app"] == "shop" or "debug" in labels';

/**
 * The requirements give the same answer as CEL if CEL gives one. For a Pod without the label, `labels["a"] != "x"` is an error
 * in CEL and true here, as in each label selector.
 */
function requirementsOf(source: string, path: Path): Requirements {
  const parsed = parseTree(source);
  const parts = parsed.ok
    ? partsOf(parsed.tree, false)
    : [{ found: parsed.problem.message, accepted, offset: parsed.problem.offset }];
  const problems = parts.flatMap((part) => ('found' in part ? [{ path, ...part }] : []));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, requirements: parts.flatMap((part) => ('found' in part ? [] : [part])) };
}

function partsOf(node: Node, isNegated: boolean): readonly Part[] {
  if (node.kind === 'select' && node.mode === 'test' && isLabels(node.operand))
    return presence(node, node.field, isNegated);
  if (node.kind !== 'call') return [refused(node, nameOf(node))];
  switch (node.name) {
    case '!_':
      return node.args.flatMap((each) => partsOf(each, !isNegated));
    case '_&&_':
    case '_||_':
      return logical(node, isNegated);
    case '_==_':
    case '_!=_':
      return comparison(node, isNegated !== (node.name === '_!=_'));
    case '_in_':
      return membership(node, isNegated);
    default:
      return [notSelectable(node, callName(node), 'list the values with in, or give these Pods a label')];
  }
}

/** `!(a || b)` is `!a && !b`, and `!(a && b)` is `!a || !b`. */
function logical(node: Operation, isNegated: boolean): readonly Part[] {
  if ((node.name === '_||_') === isNegated) return node.args.flatMap((each) => partsOf(each, isNegated));
  const what = isNegated ? '&& behind !, which means "or",' : '||';
  return [notSelectable(node, what, 'use in for the values of one label, or a binding for each case')];
}

function comparison(node: Operation, isNegated: boolean): readonly Part[] {
  const [left, right] = node.args;
  const key = labelKeyOf(left) ?? labelKeyOf(right);
  const value = textOf(labelKeyOf(left) === undefined ? left : right);
  if (key === undefined) return [refused(node, 'a comparison of something other than a label')];
  if (value === undefined)
    return [refused(node, 'a comparison of a label with something other than a text in quotes')];
  return requirement(node, { key, operator: isNegated ? 'NotIn' : 'In', values: [value] });
}

function membership(node: Operation, isNegated: boolean): readonly Part[] {
  const [left, right] = node.args;
  const present = textOf(left);
  if (present !== undefined && right !== undefined && isLabels(right))
    return presence(node, present, isNegated);
  const key = labelKeyOf(left);
  if (key === undefined || right?.kind !== 'list')
    return [refused(node, 'in without a label before it and a list behind it')];
  const values = right.elements.map(({ value, isOptional }) => (isOptional ? undefined : textOf(value)));
  const texts = values.filter((value) => value !== undefined);
  if (texts.length === 0 || texts.length < values.length)
    return [refused(right, 'a list that is empty or has items other than texts in quotes')];
  return requirement(node, { key, operator: isNegated ? 'NotIn' : 'In', values: texts });
}

function presence(node: Node, key: string, isNegated: boolean): readonly Part[] {
  return requirement(node, { key, operator: isNegated ? 'DoesNotExist' : 'Exists' });
}

/** The API server would refuse a selector with such a key or value. */
function requirement(node: Node, wanted: LabelRequirement): readonly Part[] {
  const wrong = wanted.values?.find((value) => !isLabelValue(value));
  if (!isLabelKey(wanted.key)) return [refused(node, `"${clipped(wanted.key)}"`, 'a label key')];
  return wrong === undefined ? [wanted] : [refused(node, `"${clipped(wrong)}"`, 'a label value')];
}

function refused({ offset }: Node, found: string, instead = accepted): Refusal {
  return { offset, found, accepted: instead };
}

/** https://kubernetes.io/docs/concepts/services-networking/network-policies/#networkpolicy-resource */
function notSelectable(node: Node, found: string, instead: string): Refusal {
  const message = `a label selector cannot express ${found} and a NetworkPolicy could not keep it for Pods that are created later; ${instead}`;
  return { ...refused(node, found), message };
}

function isLabels(node: Node): boolean {
  return node.kind === 'identifier' && node.name === 'labels';
}

/** Returns the key of `labels.key` or `labels["key"]`. */
function labelKeyOf(node: Node | undefined): string | undefined {
  if (node?.kind === 'select')
    return node.mode === 'plain' && isLabels(node.operand) ? node.field : undefined;
  if (node?.kind === 'index')
    return !node.isOptional && isLabels(node.operand) ? textOf(node.key) : undefined;
  return undefined;
}

function textOf(node: Node | undefined): string | undefined {
  return node?.kind === 'literal' && typeof node.value === 'string' ? node.value : undefined;
}

/** Operators have names such as `_>_`. */
function callName({ name }: Operation): string {
  return name.includes('_') ? name.replaceAll('_', '') : `${clipped(name)}()`;
}

function nameOf(node: Node): string {
  if (node.kind === 'identifier') return `the variable ${clipped(node.name)}`;
  if (node.kind === 'literal') return textOf(node) === undefined ? 'a constant' : 'a text in quotes';
  return node.kind === 'loop' ? `${node.form}()` : 'an expression that is not a condition on one label';
}
