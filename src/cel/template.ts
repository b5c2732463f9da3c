// Compiles text with `${ CEL }`. Each expression must give a string, and `$${` is a literal `${`.
import {
  compileExpression,
  findEnd,
  positionOf,
  type Bindings,
  type Evaluation,
  type Expression,
  type ExpressionProblem,
  type ExpressionScope,
  type MetadataKey,
  type Variable,
  type Work,
} from './expression.ts';
import { quoted } from '../base/text.ts';
import type { Path, Problem } from '../base/problem.ts';

export interface Template {
  readonly source: string;
  /** True without an expression: the rendered text is always the same. */
  readonly literal: boolean;
  readonly reads: ReadonlySet<Variable>;
  /** The labels and annotations of the namespace that its expressions look up. */
  readonly lookups: readonly MetadataKey[];
  /** True if the text outside of expressions holds `{{`. */
  readonly hasGoTemplate: boolean;
  render(bindings: Bindings, work?: Work): Evaluation<string>;
}

type TemplateResult =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly problem: ExpressionProblem };

type Part = string | Expression;
type PartsResult =
  | { readonly ok: true; readonly parts: readonly Part[] }
  | { readonly ok: false; readonly problem: ExpressionProblem };

export function compileTemplate(source: string, scope: ExpressionScope): TemplateResult {
  const compiled = compileParts(source, scope);
  if (!compiled.ok) return compiled;
  const { parts } = compiled;
  const expressions = parts.filter((part) => typeof part !== 'string');
  const reads = new Set(expressions.flatMap((expression) => [...expression.reads]));
  return {
    ok: true,
    template: {
      source,
      literal: expressions.length === 0,
      reads,
      lookups: expressions.flatMap((expression) => expression.lookups),
      hasGoTemplate: parts.some((part) => typeof part === 'string' && part.includes('{{')),
      render: (bindings, work) => render(parts, bindings, work),
    },
  };
}

/** Only for texts in which braces have no meaning, such as names. Other texts can hold templates for other programs. */
export function goTemplateProblem({ source, hasGoTemplate }: Template, path: Path): readonly Problem[] {
  if (!hasGoTemplate) return [];
  const message =
    'Go templates are not evaluated; use ${ } with CEL, such as ${namespaceObject.metadata.name}';
  return [{ path, found: quoted(source), accepted: 'text without {{', message }];
}

const OPENING = /\$?\$\{/g;

function compileParts(source: string, scope: ExpressionScope): PartsResult {
  const parts: Part[] = [];
  const openings = new RegExp(OPENING.source, 'g');
  let index = 0;
  for (let match = openings.exec(source); match !== null; match = openings.exec(source)) {
    parts.push(source.slice(index, match.index));
    index = openings.lastIndex;
    if (match[0] === '$${') {
      parts.push('${');
      continue;
    }
    const end = findEnd(source, index);
    if (end === undefined)
      return { ok: false, problem: problemAt(source, match.index, 'the closing } is missing') };
    const compiled = compileExpression(source.slice(index, end), scope, 'string');
    if (!compiled.ok) {
      return {
        ok: false,
        problem: problemAt(source, index + compiled.problem.offset, compiled.problem.message),
      };
    }
    parts.push(compiled.expression);
    index = end + 1;
    openings.lastIndex = index;
  }
  return { ok: true, parts: [...parts, source.slice(index)] };
}

function problemAt(source: string, offset: number, message: string): ExpressionProblem {
  return { message, offset, ...positionOf(source, offset) };
}

/** No object in the API server is larger: https://kubernetes.io/docs/concepts/configuration/secret/#restriction-data-size */
const maxLength = 1_048_576;
const tooLong = { ok: false, reason: 'failed', message: 'the text is longer than 1 MiB' } as const;
const tooMuchWork = {
  ok: false,
  reason: 'budget',
  message: 'the budget of all expressions is used up',
} as const;

function render(parts: readonly Part[], bindings: Bindings, work: Work | undefined): Evaluation<string> {
  let value = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      value += part;
      continue;
    }
    if (work?.isSpent?.() === true) return tooMuchWork;
    const evaluation = part.evaluate(bindings, work);
    if (!evaluation.ok) return evaluation;
    const text = String(evaluation.value);
    if (value.length + text.length > maxLength) return tooLong;
    value += text;
  }
  return { ok: true, value };
}
