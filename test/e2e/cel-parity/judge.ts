// Uses a real ValidatingAdmissionPolicy as a judge of many expressions at once, and reads the verdicts from its warnings.
//
// It warns and never refuses, and it has two validations for each expression: the expression and its negation. Just
// one of them fails if it can be evaluated and none if it cannot, because errors are ignored. The last validation
// always fails: its warning proves that the policy was in force and that no warning was cut off.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
import { judgeKey } from './subject.ts';

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
}

export interface Judge {
  readonly name: string;
  readonly questions: readonly string[];
  readonly validations: readonly Validation[];
  readonly read: (warnings: ReadonlySet<string>, index: number) => string;
}

/** An answer holds at most 4096 characters of warnings; a warning without its message has 85. */
const expressionsOfAJudge = 40;
const messagesOfAJudge = 12;

export function judgesOf(expressions: readonly string[], messages: readonly string[]): readonly Judge[] {
  return [
    ...chunks(expressions, expressionsOfAJudge).map((chunk, index) => expressionJudge(`cel-${index}`, chunk)),
    ...chunks(messages, messagesOfAJudge).map((chunk, index) => messageJudge(`cel-m${index}`, chunk)),
  ];
}

/** A CEL expression that is true for the requests that `requestOf` makes for this judge. */
export function askedFor(judge: string): string {
  return `request.userInfo.?extra[?'${judgeKey}'].orValue([]) == ['${judge}']`;
}

function expressionJudge(name: string, expressions: readonly string[]): Judge {
  const validations = expressions.flatMap((expression, index) => [
    { expression, message: `${index}` },
    { expression: `!(${expression}\n)`, message: `!${index}` },
  ]);
  return { name, questions: expressions, validations, read: verdictOf };
}

function verdictOf(warnings: ReadonlySet<string>, index: number): string {
  const isFalse = warnings.has(`${index}`);
  const isTrue = warnings.has(`!${index}`);
  if (isFalse && isTrue) throw new Error(`both expression ${index} and its negation are false`);
  if (isFalse) return 'false';
  return isTrue ? 'true' : 'error';
}

/** A quoted text arrives whole. An unquoted text of several lines or spaces is replaced by the fixed message. */
export function quotedSource(message: string): string {
  return `strings.quote(${message}\n)`;
}

/** The text before each result names its expression. */
function messageJudge(name: string, messages: readonly string[]): Judge {
  const validations = messages.map((message, index) => ({
    expression: 'false',
    message: `${index}: error`,
    messageExpression: `'${index}=' + ${quotedSource(message)}`,
  }));
  return { name, questions: messages, validations, read: textOf };
}

function textOf(warnings: ReadonlySet<string>, index: number): string {
  const mark = `${index}=`;
  const found = [...warnings].find((warning) => warning.startsWith(mark));
  if (found === undefined) return 'error';
  if (!found.endsWith('"')) throw new Error(`text ${index} was cut off`);
  return found.slice(mark.length);
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
