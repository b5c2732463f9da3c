// Decides whether a policy matches a namespace: yes, no, or an error that is neither.
import { unlimitedBudget, type Budget } from './budget.ts';
import { type Expression, compileExpression } from '../../cel/expression.ts';
import { type Glob, compileGlob } from './patterns.ts';
import { labelsOf, nameOf } from '../../base/metadata.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { type Selector, compileSelector } from '../../api/selector.ts';
import type { MatchCondition, MatchSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { allOf, compiled, mapped, refused, type CompileResult } from './compile-result.ts';

export interface CompiledMatch {
  readonly selector: Selector | undefined;
  /** Undefined when the policy names none: every name will do. */
  readonly names: readonly Glob[] | undefined;
  readonly excludeNames: readonly Glob[];
  readonly conditions: readonly CompiledCondition[];
}

export interface CompiledCondition {
  readonly name: string;
  readonly expression: Expression;
}

export type MatchResult =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no' }
  | { readonly kind: 'error'; readonly condition: string; readonly message: string };

const yes: MatchResult = { kind: 'yes' };
const no: MatchResult = { kind: 'no' };

/** One false term is a no even if another errors, as in Kubernetes; the cheap terms are asked first. */
export function matchNamespace(
  match: CompiledMatch,
  namespaceObject: KubeObject,
  budget: Budget = unlimitedBudget,
): MatchResult {
  return matchesStatically(match, namespaceObject)
    ? matchConditions(match.conditions, namespaceObject, budget)
    : no;
}

function matchesStatically(match: CompiledMatch, namespaceObject: KubeObject): boolean {
  const name = nameOf(namespaceObject);
  if (match.names !== undefined && !match.names.some((glob) => glob.matches(name))) return false;
  if (match.excludeNames.some((glob) => glob.matches(name))) return false;
  return match.selector === undefined || match.selector.matches(labelsOf(namespaceObject));
}

function matchConditions(
  conditions: readonly CompiledCondition[],
  namespaceObject: KubeObject,
  budget: Budget,
): MatchResult {
  let firstError: MatchResult | undefined;
  for (const { name, expression } of conditions) {
    // Who gave the budget refuses in the end, whatever the answer is here.
    if (budget.isSpent())
      return { kind: 'error', condition: name, message: 'the time for this request ran out' };
    const result = expression.evaluate({ namespaceObject });
    if (!result.ok) firstError ??= { kind: 'error', condition: name, message: result.message };
    else if (result.value !== true) return no;
  }
  return firstError ?? yes;
}

export function compileMatch(match: MatchSpec = {}): CompileResult<CompiledMatch> {
  return mapped(allOf((match.matchConditions ?? []).map(compileCondition)), (conditions) => ({
    selector: match.namespaceSelector === undefined ? undefined : compileSelector(match.namespaceSelector),
    names: match.names?.map(compileGlob),
    excludeNames: (match.excludeNames ?? []).map(compileGlob),
    conditions,
  }));
}

function compileCondition(condition: MatchCondition, index: number): CompileResult<CompiledCondition> {
  const result = compileExpression(condition.expression, { variables: ['namespaceObject'] }, 'bool');
  if (result.ok) return compiled({ name: condition.name, expression: result.expression });
  return refused([
    {
      path: ['spec', 'match', 'matchConditions', index, 'expression'],
      found: result.problem.message,
      accepted: 'CEL over namespaceObject that gives a bool',
      offset: result.problem.offset,
    },
  ]);
}
