// Compiles the match of a policy, and decides whether it matches a namespace: yes, no, or an error.
import type { MatchCondition, MatchSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { canBothSelect, compileSelector, type Selector } from '../../api/selector.ts';
import { type KubeObject, labelsOf, nameOf } from '../../base/metadata.ts';
import { compileExpression, type Expression } from '../../cel/expression.ts';
import { unlimitedBudget, type Budget } from './budget.ts';
import { allOf, compiled, mapped, refused, type CompileResult } from '../../base/problem.ts';
import { compileGlob, type Glob } from '../../cel/patterns.ts';

export interface CompiledMatch {
  readonly selector: Selector | undefined;
  /** Undefined when the policy lists no names: every name matches. */
  readonly names: readonly Glob[] | undefined;
  readonly excludeNames: readonly Glob[];
  readonly conditions: readonly CompiledCondition[];
}

interface CompiledCondition {
  readonly name: string;
  readonly expression: Expression;
}

export interface MatchError {
  readonly kind: 'error';
  readonly condition: string;
  readonly message: string;
}

export type MatchResult = { readonly kind: 'yes' } | { readonly kind: 'no' } | MatchError;

/** For the names and the labels, however many. */
const matchingUnits = 3;

const yes: MatchResult = { kind: 'yes' };
const no: MatchResult = { kind: 'no' };

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

/** As in Kubernetes, one false term means no, even if another term errors. The cheap terms are evaluated first. */
export function matchNamespace(
  match: CompiledMatch,
  namespaceObject: KubeObject,
  budget: Budget = unlimitedBudget,
): MatchResult {
  budget.spend(matchingUnits);
  return mayMatch(match, namespaceObject) ? matchConditions(match.conditions, namespaceObject, budget) : no;
}

/** False if the name or the labels alone say no, which costs next to nothing. */
export function mayMatch(match: CompiledMatch, namespaceObject: KubeObject): boolean {
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
    // A spent budget makes the caller refuse the review, whatever this returns.
    if (budget.isSpent())
      return { kind: 'error', condition: name, message: 'the budget of this request is used up' };
    const result = expression.evaluate({ namespaceObject }, budget);
    if (!result.ok) firstError ??= { kind: 'error', condition: name, message: result.message };
    else if (result.value !== true) return no;
  }
  return firstError ?? yes;
}

/** False if no name and labels satisfy both. Conditions and two globs with a common prefix may still exclude each other. */
export function canBothMatch(a: CompiledMatch, b: CompiledMatch): boolean {
  if (a.selector !== undefined && b.selector !== undefined && !canBothSelect(a.selector, b.selector))
    return false;
  const excluded = [...a.excludeNames, ...b.excludeNames];
  // A glob that matches the text of another one, stars included, matches all that the other one matches.
  const left = (names: readonly Glob[] = anyName): readonly Glob[] =>
    names.filter(({ source }) => !excluded.some((glob) => glob.matches(source)));
  const others = left(b.names);
  return left(a.names).some((one) => others.some((other) => canBothMatchName(one, other)));
}

const anyName = [compileGlob('*')];

function canBothMatchName(a: Glob, b: Glob): boolean {
  if (a.exact) return b.matches(a.source);
  return b.exact ? a.matches(b.source) : a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix);
}

/** The text for a status. */
export function matchErrorText({ condition, message }: MatchError): string {
  return `match condition ${condition}: ${message}`;
}
