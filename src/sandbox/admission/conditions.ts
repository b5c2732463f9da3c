// The matchConditions of webhooks and policies, in CEL.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions
import type { KubeObject } from '../../base/kube-object.ts';
import { compileExpression } from '../../cel/expression.ts';
import type { Bindings, CompileResult, Expression } from '../../cel/expression.ts';
import type { StatusCause } from '../api-error.ts';
import type { WithMatchConditions, Webhook } from './configurations.ts';

export const admissionVariables = ['object', 'oldObject', 'request', 'namespaceObject'] as const;

/** Keeps what was compiled of an object for as long as the object itself: stored objects never change. */
export function memoized<O extends object, T>(compile: (object: O) => T): (object: O) => T {
  const known = new WeakMap<O, { readonly value: T }>();
  return (object) => {
    const found = known.get(object) ?? { value: compile(object) };
    known.set(object, found);
    return found.value;
  };
}

export const compileConditions = memoized(
  ({ matchConditions = [] }: WithMatchConditions): readonly CompileResult[] =>
    matchConditions.map(({ expression }) =>
      compileExpression(expression, { variables: admissionVariables }, 'bool'),
    ),
);

/** What is wrong with the conditions of a webhook configuration that its kind has judged. */
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

/** Whether all conditions are true; what is wrong where none is false and some cannot be told. */
export function matchConditionsHold(conditional: WithMatchConditions, bindings: Bindings): boolean | string {
  // What does not compile is not stored, or not evaluated.
  const outcomes = compileConditions(conditional).map(
    (condition) => !condition.ok || evaluateCondition(condition.expression, bindings),
  );
  return !outcomes.includes(false) && (outcomes.find((outcome) => outcome !== true) ?? true);
}

/** A text says what went wrong. */
export function evaluateCondition(expression: Expression, bindings: Bindings): boolean | string {
  const outcome = expression.evaluate(bindings);
  if (outcome.ok) return outcome.value === true;
  return `expression '${expression.source}' resulted in error: ${outcome.message}`;
}
