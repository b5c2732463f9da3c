// validations: the author's own rules on a Namespace, in CEL.
import { compileExpression } from '../cel/expression.ts';
import type { Bindings, Expression, ExpressionScope, Work } from '../cel/expression.ts';
import { compiled, refused, type CompileResult, type Path } from '../base/problem.ts';
import { clipped } from '../base/text.ts';
import { list, object as objectSchema, text as textSchema, type Infer } from '../schema/schema.ts';
import { expression, itemName } from '../schema/common-fields.ts';
import { everyOperation, ruleForm, type RuleViolation, type Rule } from './rule.ts';

/** As in ValidatingAdmissionPolicy: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/ */
const seen = ['object', 'oldObject', 'request'] as const;
const maxMessageLength = 1024;
const maxShown = 300;

const validation = objectSchema({
  description: 'A rule of your own on the Namespace.',
  fields: {
    name: itemName(
      'Names the rule in messages and exceptions, as validations/<name>. Unique among the validations. Example: short.',
    ),
    expression: expression(
      'CEL that must be true. It sees object, oldObject (null on CREATE) and request. Example: object.metadata.name.size() <= 40.',
    ),
    message: textSchema({
      description:
        'The text that the user gets when the rule is violated. Without it the expression is shown.',
      minLength: 1,
      maxLength: 1024,
      braces: 'plain',
    }),
    messageExpression: expression(
      "CEL that returns this text. It sees what expression sees. When it returns an error, message is shown. Example: 'name too long: ' + object.metadata.name.",
    ),
  },
  required: ['name', 'expression'],
});

type ValidationRule = Infer<typeof validation>;

export const validations = ruleForm({
  id: 'validations',
  judges: 'namespaces',
  field: list({
    description: 'Rules of your own on the Namespace, in CEL, for what the other rules cannot express.',
    items: validation,
    maxItems: 50,
    unique: { key: 'name' },
  }),
  operations: everyOperation,
  hasExpressions: true,
  compile: (rules, definitions) =>
    rules.map((rule, index) => compileValidation(rule, index, { variables: seen, definitions })),
  // Only the author knows what an expression refuses.
  examples: () => ({}),
});

function compileValidation(rule: ValidationRule, index: number, scope: ExpressionScope): CompileResult<Rule> {
  const condition = compile(rule.expression, 'bool', ['spec', 'validations', index, 'expression'], scope);
  const message =
    rule.messageExpression === undefined
      ? compiled(undefined)
      : compile(rule.messageExpression, 'string', ['spec', 'validations', index, 'messageExpression'], scope);
  if (!condition.ok || !message.ok) {
    return refused([...(condition.ok ? [] : condition.problems), ...(message.ok ? [] : message.problems)]);
  }
  return compiled(validationRule(rule, condition.value, message.value));
}

function validationRule(rule: ValidationRule, condition: Expression, message: Expression | undefined): Rule {
  return {
    shape: 'state',
    ownId: `validations/${rule.name}`,
    // A rule that reads the old object or the request cannot judge the old object alone.
    graced: !condition.reads.has('oldObject') && !condition.reads.has('request'),
    compared: () => [
      { path: 'object', found: 'true', accepted: `true for ${clipped(rule.expression, maxShown)}` },
    ],
    judge(object, { review, budget }) {
      // Variables of the policy read the judged Namespace as namespaceObject, too.
      const bindings = {
        namespaceObject: object,
        object,
        oldObject: review.oldObject ?? null,
        request: review.attributes,
      };
      const result = condition.evaluate(bindings, budget);
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
      if (text === undefined) {
        const failed = violation('an object for which it is false', accepted, 'false');
        return [{ ...failed, message: `failed expression: ${source}` }];
      }
      const found = `an object that breaks the rule: ${text}`;
      return [{ ...violation(found, 'an object that keeps the rule', 'false'), message: text }];
    },
  };
}

/** As in Kubernetes: the fixed message is used when the computed message errors, is empty or has several lines. */
function messageOf(
  rule: ValidationRule,
  message: Expression | undefined,
  bindings: Bindings,
  budget: Work,
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
  path: Path,
  scope: ExpressionScope,
): CompileResult<Expression> {
  const compilation = compileExpression(source, scope, result);
  if (compilation.ok) return compiled(compilation.expression);
  const { message: found, offset } = compilation.problem;
  const accepted = `CEL over object, oldObject and request that gives a ${result}`;
  return refused([{ path, found, accepted, offset }]);
}
