// validations: free rules on a Namespace, in CEL.
import type { ValidationRule } from '../../api/namespace-policy/namespace-policy.ts';
import { compileExpression, type Expression, type ExpressionScope } from '../../cel/expression.ts';
import { compiled, refused, type CompileResult } from '../terms/compile-result.ts';
import { clipped } from '../../base/text.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { requestAttributes, type Review } from '../terms/review.ts';
import type { RuleViolation, Rule } from './rule.ts';

/** As in ValidatingAdmissionPolicy: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/ */
const scope: ExpressionScope = {
  variables: ['object', 'oldObject', 'request'],
  requestFields: requestAttributes,
};
const longestMessage = 1024;

export function compileValidation(rule: ValidationRule, index: number): CompileResult<Rule> {
  const expression = compile(rule.expression, 'bool', index, 'expression');
  const message =
    rule.messageExpression === undefined
      ? compiled(undefined)
      : compile(rule.messageExpression, 'string', index, 'messageExpression');
  if (!expression.ok || !message.ok) {
    return refused([...(expression.ok ? [] : expression.problems), ...(message.ok ? [] : message.problems)]);
  }
  return compiled(validationRule(rule, expression.value, message.value));
}

function validationRule(rule: ValidationRule, expression: Expression, message: Expression | undefined): Rule {
  return {
    shape: 'state',
    id: `validations/${rule.name}`,
    // A rule that compares with the old object, or asks who writes, says nothing about the old object alone.
    graced: !expression.reads.has('oldObject') && !expression.reads.has('request'),
    judge(object, { review }) {
      const bindings = bindingsOf(object, review);
      const result = expression.evaluate(bindings);
      if (result.ok && result.value === true) return [];
      const accepted = `an object for which ${clipped(rule.expression, longestMessage)} is true`;
      if (!result.ok) return [violation(`an error: ${result.message}`, accepted, undefined)];
      const text = messageOf(rule, message, bindings);
      // Where the author says it in words, the expression would only be in the way of them.
      if (text === undefined) return [violation('one for which it is false', accepted, 'false')];
      return [violation(`one that breaks the rule: ${text}`, 'one that keeps it', 'false')];
    },
  };
}

interface Bindings {
  readonly object: KubeObject;
  readonly oldObject: KubeObject | null;
  readonly request: Review['attributes'];
}

function bindingsOf(object: KubeObject, review: Review): Bindings {
  return { object, oldObject: review.oldObject ?? null, request: review.attributes };
}

/** As in Kubernetes: a message that cannot be computed, is empty or has several lines gives way to the fixed one. */
function messageOf(
  rule: ValidationRule,
  message: Expression | undefined,
  bindings: Bindings,
): string | undefined {
  const computed = message?.evaluate(bindings);
  if (computed?.ok === true && typeof computed.value === 'string') {
    const text = computed.value.trim();
    if (text !== '' && !/[\r\n]/.test(text)) return clipped(text, longestMessage);
  }
  return rule.message === undefined ? undefined : clipped(rule.message, longestMessage);
}

function violation(found: string, accepted: string, identity: string | undefined): RuleViolation {
  return { path: 'object', found, accepted, identity };
}

function compile(
  source: string,
  result: 'bool' | 'string',
  index: number,
  field: 'expression' | 'messageExpression',
): CompileResult<Expression> {
  const outcome = compileExpression(source, scope, result);
  if (outcome.ok) return compiled(outcome.expression);
  return refused([
    {
      path: ['spec', 'validations', index, field],
      found: outcome.problem.message,
      accepted: `CEL over object, oldObject and request that gives a ${result}`,
      offset: outcome.problem.offset,
    },
  ]);
}
