// validations: the author's own rules on a Namespace, in CEL.
import type { ValidationRule } from '../../api/namespace-policy/namespace-policy.ts';
import { compileExpression, type Expression, type ExpressionScope } from '../../cel/expression.ts';
import { compiled, refused, type CompileResult } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import type { Budget } from '../terms/budget.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Review } from '../terms/review.ts';
import type { RuleViolation, Rule } from './rule.ts';

/** As in ValidatingAdmissionPolicy: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/ */
const scope: ExpressionScope = { variables: ['object', 'oldObject', 'request'] };
const maxMessageLength = 1024;

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
    // A rule that reads the old object or the request cannot judge the old object alone.
    graced: !expression.reads.has('oldObject') && !expression.reads.has('request'),
    judge(object, { review, budget }) {
      const bindings = bindingsOf(object, review);
      const result = expression.evaluate(bindings, budget);
      if (result.ok && result.value === true) return [];
      const source = clipped(rule.expression, maxMessageLength);
      const accepted = `an object for which ${source} is true`;
      if (!result.ok) {
        const text = `expression failed with "${result.message}": ${source}`;
        const failed = violation(`an error: ${result.message}`, accepted, undefined);
        return [{ ...failed, message: text, isConsequence: true }];
      }
      const text = messageOf(rule, message, bindings, budget);
      // Without a message, the words are those of a ValidatingAdmissionPolicy.
      if (text === undefined)
        return [
          {
            ...violation('an object for which it is false', accepted, 'false'),
            message: `failed expression: ${source}`,
          },
        ];
      const found = `an object that breaks the rule: ${text}`;
      return [{ ...violation(found, 'an object that keeps the rule', 'false'), message: text }];
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

/** As in Kubernetes: the fixed message is used when the computed message errors, is empty or has several lines. */
function messageOf(
  rule: ValidationRule,
  message: Expression | undefined,
  bindings: Bindings,
  budget: Budget,
): string | undefined {
  const computed = message?.evaluate(bindings, budget);
  if (computed?.ok === true && typeof computed.value === 'string') {
    const text = computed.value.trim();
    if (text !== '' && !/[\r\n]/.test(text)) return clipped(text, maxMessageLength);
  }
  return rule.message === undefined ? undefined : clipped(rule.message, maxMessageLength);
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
  const compilation = compileExpression(source, scope, result);
  if (compilation.ok) return compiled(compilation.expression);
  return refused([
    {
      path: ['spec', 'validations', index, field],
      found: compilation.problem.message,
      accepted: `CEL over object, oldObject and request that gives a ${result}`,
      offset: compilation.problem.offset,
    },
  ]);
}
