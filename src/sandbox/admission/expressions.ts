// Compiles the CEL expressions of webhook configurations and ValidatingAdmissionPolicies.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions
import type { KubeObject } from '../../base/metadata.ts';
import {
  compileExpression,
  type Expression,
  type ResultKind,
  type Bindings,
  type ExpressionResult,
  type Variable,
} from '../../cel/expression.ts';
import type { StatusCause } from '../api-error.ts';
import { memoized } from '../resource.ts';
import type { AdmissionPolicy, WithMatchConditions, Webhook } from './configurations.ts';

interface Validation {
  readonly isMet: Expression;
  readonly explain: Expression | undefined;
  readonly message: string;
  readonly reason: string;
}

export interface CompiledAdmissionPolicy {
  readonly variables: ReadonlyMap<string, Expression>;
  readonly validations: readonly Validation[];
}

/** Returns the reason as text if the policy cannot be evaluated. */
export const compiledAdmissionPolicy = memoized(
  ({ spec }: AdmissionPolicy): CompiledAdmissionPolicy | string => {
    const problems = compileConditions(spec).flatMap((each) => (each.ok ? [] : [each.problem.message]));
    const variables = new Map<string, Expression>();
    const compile = (source: string, result: ResultKind): Expression | undefined => {
      // A variable sees only the variables before it.
      const computed = Object.fromEntries(Array.from(variables, ([name, { type }]) => [name, type]));
      const scope = { variables: [...variablesOf(spec), 'variables'] as const, computed };
      const outcome = compileExpression(source, scope, result);
      if (outcome.ok) return outcome.expression;
      problems.push(`${outcome.problem.message}, in ${source.slice(0, 60)}`);
      return undefined;
    };
    for (const { name, expression } of spec.variables ?? []) {
      const compiled = compile(expression, 'any');
      if (compiled !== undefined) variables.set(name, compiled);
    }
    const validations = (spec.validations ?? []).flatMap((rule) => {
      const isMet = compile(rule.expression, 'bool');
      const explain = rule.messageExpression ? compile(rule.messageExpression, 'string') : undefined;
      const message = rule.message?.trim() || `failed expression: ${rule.expression.trim()}`;
      return isMet === undefined ? [] : [{ isMet, explain, message, reason: rule.reason || 'Invalid' }];
    });
    return problems[0] ?? { variables, validations };
  },
);

/** Returns why the sandbox stores a valid policy without evaluating it; undefined when the sandbox evaluates it. */
export function whyNotEvaluated(policy: KubeObject): string | undefined {
  const why = problemIn(policy);
  return why !== undefined && needsMoreThanSandbox(policy) ? why : undefined;
}

/** Returns the problems in the expressions of a policy that the sandbox would evaluate. */
export function policyProblems(policy: KubeObject): readonly StatusCause[] {
  const why = problemIn(policy);
  if (why === undefined || needsMoreThanSandbox(policy)) return [];
  const message = `Invalid value: compilation failed: ${why}`;
  return [{ reason: 'FieldValueInvalid', message, field: 'spec' }];
}

function needsMoreThanSandbox({ spec }: KubeObject): boolean {
  return /\bauthorizer\b/.test(JSON.stringify(spec));
}

function problemIn(policy: KubeObject): string | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kinds/admission-kinds.ts lets nothing else come here
  const compiled = compiledAdmissionPolicy(policy as AdmissionPolicy);
  return typeof compiled === 'string' ? compiled : undefined;
}

const admissionVariables = ['object', 'oldObject', 'request', 'namespaceObject'] as const;

function variablesOf({ paramKind }: WithMatchConditions): readonly Variable[] {
  return paramKind === undefined ? admissionVariables : [...admissionVariables, 'params'];
}

const compileConditions = memoized((spec: WithMatchConditions): readonly ExpressionResult[] =>
  (spec.matchConditions ?? []).map(({ expression }) =>
    compileExpression(expression, { variables: variablesOf(spec) }, 'bool'),
  ),
);

/** Returns the problems in the matchConditions of a webhook configuration. */
export function conditionProblems(configuration: KubeObject): readonly StatusCause[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kinds/admission-kinds.ts lets nothing else come here
  const webhooks = (configuration['webhooks'] ?? []) as readonly Webhook[];
  return webhooks.flatMap((webhook, index) =>
    compileConditions(webhook).flatMap((result, at) => {
      if (result.ok) return [];
      const field = `webhooks[${index}].matchConditions[${at}].expression`;
      const message = `Invalid value: compilation failed: ${result.problem.message}`;
      return [{ reason: 'FieldValueInvalid', message, field }];
    }),
  );
}

/** Returns true when all conditions hold, false when one does not, and otherwise the text of the first error. */
export function matchConditionsHold(conditional: WithMatchConditions, bindings: Bindings): boolean | string {
  // A condition that does not compile is never stored, or its policy is never evaluated.
  const outcomes = compileConditions(conditional).map(
    (condition) => !condition.ok || evaluateCondition(condition.expression, bindings),
  );
  return !outcomes.includes(false) && (outcomes.find((outcome) => outcome !== true) ?? true);
}

/** Returns a text when the evaluation ends with an error. */
export function evaluateCondition(expression: Expression, bindings: Bindings): boolean | string {
  const outcome = expression.evaluate(bindings);
  if (outcome.ok) return outcome.value === true;
  return `expression '${expression.source}' resulted in error: ${outcome.message}`;
}
