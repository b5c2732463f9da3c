// Compiles the match of a policy, and decides whether it matches a namespace: yes, no, or an error.
import { canBothSelect, compileSelector, type Selector } from '../../schema/selector.ts';
import type {
  ActionOverride,
  MatchCondition,
  MatchSpec,
  PolicyException,
  ValidationAction,
} from '../../api/namespace-policy/namespace-policy.ts';
import { type KubeObject, labelsOf, nameOf, valueOf, withMetadata } from '../../base/metadata.ts';
import {
  compileExpression,
  type Definitions,
  type Expression,
  type ExpressionScope,
} from '../../cel/expression.ts';
import { unlimitedBudget, type Budget } from './budget.ts';
import { allOf, compiled, mapped, refused, type CompileResult } from '../../base/problem.ts';
import { compileGlob, type Glob } from '../../cel/regex.ts';
import type { RuleId } from '../../rules/rules.ts';
import { namespaceNameLabel } from '../../schema/names.ts';

export interface CompiledMatch {
  readonly selector: Selector | undefined;
  /** Undefined when the policy lists no names: every name matches. */
  readonly names: readonly Glob[] | undefined;
  readonly excludeNames: readonly Glob[];
  /** At least one of these must match, by names and labels. Left out: no such term. */
  readonly anyOf?: readonly CompiledMatch[];
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

/** The price of comparing the names and the labels, whatever their number. */
const matchingUnits = 3;

const yes: MatchResult = { kind: 'yes' };
const no: MatchResult = { kind: 'no' };

/** The terms of a policy or a share. A share has no conditions and no variables, and a policy no alternatives. */
export interface MatchTerms extends MatchSpec {
  readonly anyOf?: readonly MatchSpec[];
}

export function compileMatch(
  match: MatchTerms = {},
  definitions?: Definitions,
): CompileResult<CompiledMatch> {
  const scope: ExpressionScope = { variables: ['namespaceObject'], ...(definitions && { definitions }) };
  const compiledConditions = (match.matchConditions ?? []).map((condition, index) =>
    compileCondition(condition, index, scope),
  );
  return mapped(allOf(compiledConditions), (conditions) => ({
    ...compileTerms(match),
    ...(match.anyOf === undefined ? {} : { anyOf: match.anyOf.map(compileTerms) }),
    conditions,
  }));
}

/** Names and labels, which always compile. */
function compileTerms({ namespaceSelector, names, excludeNames = [] }: MatchSpec): CompiledMatch {
  return {
    selector: namespaceSelector === undefined ? undefined : compileSelector(namespaceSelector),
    names: names?.map(compileGlob),
    excludeNames: excludeNames.map(compileGlob),
    conditions: [],
  };
}

function compileCondition(
  condition: MatchCondition,
  index: number,
  scope: ExpressionScope,
): CompileResult<CompiledCondition> {
  const result = compileExpression(condition.expression, scope, 'bool');
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

/** One false term means no, even if another one has an error, as in Kubernetes. The cheap terms come first. */
export function matchNamespace(
  match: CompiledMatch,
  namespaceObject: KubeObject,
  budget: Budget = unlimitedBudget,
): MatchResult {
  budget.spend(matchingUnits);
  return mayMatch(match, namespaceObject) ? matchConditions(match.conditions, namespaceObject, budget) : no;
}

/** Returns false if the name or the labels alone exclude the namespace. This costs next to nothing. */
export function mayMatch(match: CompiledMatch, namespaceObject: KubeObject): boolean {
  const name = nameOf(namespaceObject);
  if (match.names !== undefined && !match.names.some((glob) => glob.matches(name))) return false;
  if (match.excludeNames.some((glob) => glob.matches(name))) return false;
  if (match.selector !== undefined && !match.selector.matches(labelsOf(namespaceObject))) return false;
  return match.anyOf === undefined || match.anyOf.some((each) => mayMatch(each, namespaceObject));
}

/** Returns the match and its alternatives, whose names and labels decide as well. */
export function withAlternatives(match: CompiledMatch): readonly CompiledMatch[] {
  return [match, ...(match.anyOf ?? [])];
}

function matchConditions(
  conditions: readonly CompiledCondition[],
  namespaceObject: KubeObject,
  budget: Budget,
): MatchResult {
  let firstError: MatchResult | undefined;
  for (const { name, expression } of conditions) {
    // The caller refuses a review whose budget is spent, so this result does not matter.
    if (budget.isSpent())
      return { kind: 'error', condition: name, message: 'the budget of this request is used up' };
    const result = expression.evaluate({ namespaceObject }, budget);
    if (!result.ok) firstError ??= { kind: 'error', condition: name, message: result.message };
    else if (result.value !== true) return no;
  }
  return firstError ?? yes;
}

/** Returns false if no name and labels satisfy both. Conditions, or globs with a common prefix, may still exclude each other. */
export function canBothMatch(a: CompiledMatch, b: CompiledMatch): boolean {
  if (a.selector !== undefined && b.selector !== undefined && !canBothSelect(a.selector, b.selector))
    return false;
  const excluded = [...a.excludeNames, ...b.excludeNames];
  // A glob that matches the text of another glob, stars included, matches all names of that glob.
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

/** Returns the text for a status. */
export function matchErrorText({ condition, message }: MatchError): string {
  return `match condition ${condition}: ${message}`;
}

// Exceptions: namespaces to which some rules of a policy do not apply, or that lack some contents, optionally until a time.

export interface CompiledException {
  readonly namespaces: readonly Glob[];
  readonly rules: ReadonlySet<string>;
  /** Contents as `<kind>/<name>`. */
  readonly contents: ReadonlySet<string>;
  /** Milliseconds since the epoch. Undefined: the exception does not expire. */
  readonly expiresAt: number | undefined;
  readonly reason: string | undefined;
}

export function compileException(exception: PolicyException): CompiledException {
  const { namespaces, rules, contents, expiresAt, reason } = exception;
  return {
    namespaces: namespaces.map(compileGlob),
    rules: new Set(rules),
    contents: new Set(contents),
    expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
    reason,
  };
}

export function isExcepted(
  exceptions: readonly CompiledException[],
  rule: RuleId,
  namespace: string,
  now: Date,
): boolean {
  return exceptions.some(
    (each) =>
      each.rules.has(rule) && isInForce(each, now) && each.namespaces.some((glob) => glob.matches(namespace)),
  );
}

/** Returns the exception that covers the content in the namespace for the longest time, whether it is still in force or not. */
export function contentException(
  exceptions: readonly CompiledException[],
  content: string,
  namespace: string,
): CompiledException | undefined {
  const [longest] = exceptions
    .filter((each) => each.contents.has(content) && each.namespaces.some((glob) => glob.matches(namespace)))
    .toSorted((a, b) => (b.expiresAt ?? Infinity) - (a.expiresAt ?? Infinity));
  return longest;
}

// Overrides: namespaces in which a policy takes other actions, optionally until a time.

interface CompiledOverride {
  /** Names and labels only. */
  readonly match: CompiledMatch;
  readonly actions: readonly ValidationAction[];
  /** Milliseconds since the epoch. Undefined: the override does not expire. */
  readonly expiresAt: number | undefined;
  readonly reason: string | undefined;
}

export function compileOverride({ actions, expiresAt, reason, ...terms }: ActionOverride): CompiledOverride {
  return {
    match: compileTerms(terms),
    actions,
    expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
    reason,
  };
}

/** `Warn instead of Deny: wave 1 of 3` */
export function overrideText({ actions }: Enforcement, override: CompiledOverride): string {
  const change = `${override.actions.join(' and ')} instead of ${actions.join(' and ')}`;
  return override.reason === undefined ? change : `${change}: ${override.reason}`;
}

/** What a policy does about violations: its own actions, and those of its overrides. */
export interface Enforcement {
  readonly actions: readonly ValidationAction[];
  readonly overrides: readonly CompiledOverride[];
}

/** Returns the actions of the first override in force that covers the namespace, else those of the policy. */
export function actionsIn(
  { actions, overrides }: Enforcement,
  namespaceObject: KubeObject,
  now: Date,
): readonly ValidationAction[] {
  return overrideIn(overrides, namespaceObject, now)?.actions ?? actions;
}

export function overrideIn(
  overrides: readonly CompiledOverride[],
  namespaceObject: KubeObject,
  now: Date,
): CompiledOverride | undefined {
  return overrides.find((each) => isInForce(each, now) && mayMatch(each.match, namespaceObject));
}

export function deniesIn(policy: Enforcement, namespaceObject: KubeObject, now: Date): boolean {
  return actionsIn(policy, namespaceObject, now).includes('Deny');
}

/** Returns whether the policy can refuse a write in any namespace. */
export function deniesSomewhere({ actions, overrides }: Enforcement, now: Date): boolean {
  return (
    actions.includes('Deny') ||
    overrides.some((each) => isInForce(each, now) && each.actions.includes('Deny'))
  );
}

/** Returns whether an exception or override has not expired. */
export function isInForce({ expiresAt }: { readonly expiresAt: number | undefined }, now: Date): boolean {
  return expiresAt === undefined || now.getTime() < expiresAt;
}

/**
 * Returns when the next exception or override of the policies ends, in milliseconds since the epoch. With a Namespace: the next one
 * that covers it.
 */
export function nextRelaxationEnd(
  policies: readonly Relaxations[],
  now: Date,
  namespaceObject?: KubeObject,
): number | undefined {
  const covers = (test: (object: KubeObject) => boolean): boolean =>
    namespaceObject === undefined || test(namespaceObject);
  let next: number | undefined;
  const take = (expiresAt = 0): void => {
    if (expiresAt > now.getTime()) next = Math.min(next ?? expiresAt, expiresAt);
  };
  for (const { exceptions, overrides } of policies) {
    for (const { namespaces, expiresAt } of exceptions)
      if (covers((object) => namespaces.some((glob) => glob.matches(nameOf(object))))) take(expiresAt);
    for (const { match, expiresAt } of overrides)
      if (covers((object) => mayMatch(match, object))) take(expiresAt);
  }
  return next;
}

interface Relaxations {
  readonly exceptions: readonly CompiledException[];
  readonly overrides: readonly CompiledOverride[];
}

// A Namespace as the API server stores it: with the name label that the API server sets.

/** Returns the object with the true name label, because a request can forge that label or leave it out. */
export function asStored(namespaceObject: KubeObject): KubeObject {
  const name = nameOf(namespaceObject);
  if (name === '' || valueOf(labelsOf(namespaceObject), namespaceNameLabel) === name) return namespaceObject;
  return withMetadata(namespaceObject, 'labels', new Map([[namespaceNameLabel, name]]));
}

/** Returns a Namespace that holds only what the API server sets by itself. */
export function bareNamespace(name: string, like: KubeObject): KubeObject {
  const { uid, creationTimestamp } = like.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { [namespaceNameLabel]: name },
      ...(uid === undefined ? {} : { uid }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}
