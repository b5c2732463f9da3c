// Turns a condition in CEL on the labels of a Pod into requirements of a label selector, or says why that cannot be.
import type { Path, Problem } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import { parseTree, type Node } from '../../cel/expression.ts';
import { isLabelKey, isLabelValue } from '../kubernetes-names.ts';
import type { LabelRequirement } from './joined-selector.ts';

type Requirements =
  | { readonly ok: true; readonly requirements: readonly LabelRequirement[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

interface Refusal {
  readonly offset: number;
  readonly message: string;
}
type Part = LabelRequirement | Refusal;

const accepted = 'a condition on labels with ==, !=, in, has(), && and !, such as labels["app"] == "shop"';
/** https://kubernetes.io/docs/concepts/services-networking/network-policies/#networkpolicy-resource */
const why =
  'a label selector cannot express it, and a NetworkPolicy could not keep it for Pods that are created later';

/** The result is true for the same labels wherever CEL gives an answer. For a missing label, `!=` is true here and an error in CEL. */
export function requirementsOf(source: string, path: Path): Requirements {
  const parsed = parseTree(source);
  const parts = parsed.ok ? partsOf(parsed.tree, false) : [parsed.problem];
  const problems = parts.flatMap((part) => ('operator' in part ? [] : [problemOf(part, path)]));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, requirements: parts.flatMap((part) => ('operator' in part ? [part] : [])) };
}

function problemOf({ offset, message }: Refusal, path: Path): Problem {
  return { path, found: message, accepted, offset };
}

function partsOf(node: Node, isNegated: boolean): readonly Part[] {
  if (node.kind === 'select' && node.mode === 'test' && isLabels(node.operand))
    return presence(node.field, isNegated, node);
  if (node.kind !== 'call') return [refused(node, whyNotCondition(node))];
  const [left, right] = node.args;
  switch (node.name) {
    case '!_':
      return node.args.flatMap((each) => partsOf(each, !isNegated));
    case '_&&_':
    case '_||_':
      return logical(node, node.args, isNegated);
    case '_==_':
    case '_!=_':
      return comparison(node, left, right, isNegated !== (node.name === '_!=_'));
    case '_in_':
      return membership(node, left, right, isNegated);
    default:
      return [refused(node, whyNotCall(node.name))];
  }
}

/** `!(a || b)` is `!a && !b`, and `!(a && b)` is `!a || !b`. */
function logical(
  node: Node & { readonly name: string },
  args: readonly Node[],
  isNegated: boolean,
): readonly Part[] {
  if ((node.name === '_||_') === isNegated) return args.flatMap((each) => partsOf(each, isNegated));
  if (isNegated) return [refused(node, `! before && means "or": ${why}; write one binding for each case`)];
  const instead = 'use in for several values of one label, and one binding for each other case';
  return [refused(node, `||: ${why}; ${instead}`)];
}

function comparison(
  node: Node,
  left: Node | undefined,
  right: Node | undefined,
  isNegated: boolean,
): readonly Part[] {
  const key = labelKeyOf(left) ?? labelKeyOf(right);
  const other = labelKeyOf(left) === undefined ? left : right;
  const value = textOf(other);
  if (key === undefined) return [refused(node, 'a comparison without a label')];
  if (value === undefined) return [refused(node, 'a comparison with something other than a text in quotes')];
  return requirement(node, { key, operator: isNegated ? 'NotIn' : 'In', values: [value] });
}

function membership(
  node: Node,
  left: Node | undefined,
  right: Node | undefined,
  isNegated: boolean,
): readonly Part[] {
  if (right !== undefined && isLabels(right)) {
    const key = textOf(left);
    return key === undefined
      ? [refused(node, 'a label key that is not a text in quotes')]
      : presence(key, isNegated, node);
  }
  const key = labelKeyOf(left);
  if (key === undefined || right?.kind !== 'list')
    return [refused(node, 'in without a label before it and a list of texts after it')];
  const values = right.elements.map(({ value, isOptional }) => (isOptional ? undefined : textOf(value)));
  const texts = values.filter((value) => value !== undefined);
  if (texts.length === 0 || texts.length < values.length)
    return [refused(right, 'a list that is empty or has items other than texts in quotes')];
  return requirement(node, { key, operator: isNegated ? 'NotIn' : 'In', values: texts });
}

function presence(key: string, isNegated: boolean, node: Node): readonly Part[] {
  return requirement(node, { key, operator: isNegated ? 'DoesNotExist' : 'Exists' });
}

/** A label that cannot be is a mistake, and the API server would refuse the selector. */
function requirement(node: Node, wanted: LabelRequirement): readonly Part[] {
  const wrong = wanted.values?.find((value) => !isLabelValue(value));
  if (!isLabelKey(wanted.key)) return [refused(node, `"${clipped(wanted.key)}", which is not a label key`)];
  return wrong === undefined ? [wanted] : [refused(node, `"${clipped(wrong)}", which is not a label value`)];
}

function refused({ offset }: Node, message: string): Refusal {
  return { offset, message };
}

function isLabels(node: Node): boolean {
  return node.kind === 'identifier' && node.name === 'labels';
}

/** The key of `labels.key` or `labels["key"]`. */
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

function whyNotCall(name: string): string {
  const tests = ['startsWith', 'endsWith', 'contains', 'matches'];
  if (tests.includes(name))
    return `${name}(): ${why}; list the values with in, or give the Pods a label of their own`;
  return `${name.replaceAll('_', '')}: ${why}`;
}

function whyNotCondition(node: Node): string {
  if (node.kind === 'identifier' && !isLabels(node))
    return `the variable ${clipped(node.name)}; only labels can be read`;
  if (textOf(node) !== undefined) return 'a text in quotes instead of a condition';
  return `an expression that is no condition on one label: ${why}`;
}
