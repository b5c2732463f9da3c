// Compiles and checks the list of texts in the field `forEach`: there is one object, or one part, for each of them.
import { compiled, refused, type CompileResult, type Path } from '../base/problem.ts';
import { quoted } from '../base/text.ts';
import { compileExpression, type Expression, type ExpressionScope } from '../cel/expression.ts';
import type { Rendered, RenderedContent, TextProblem } from './content.ts';

export const maxItems = 100;

export function compileList(source: string, scope: ExpressionScope, path: Path): CompileResult<Expression> {
  const result = compileExpression(source, scope, 'strings');
  if (result.ok) return compiled(result.expression);
  const { message, offset } = result.problem;
  const accepted = `CEL over ${scope.variables.join(' and ')} that gives a list of texts`;
  return refused([{ path, found: message, accepted, offset }]);
}

type Texts =
  | { readonly ok: true; readonly texts: readonly string[] }
  | { readonly ok: false; readonly found: string; readonly accepted: string };

/** Returns the items of the list that the expression gives. */
export function textsIn(value: unknown): Texts {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (items.length > maxItems)
    return { ok: false, found: `${items.length} items`, accepted: `at most ${maxItems}` };
  const texts = items.filter((each) => typeof each === 'string');
  if (texts.length < items.length)
    return { ok: false, found: 'an item that is no text', accepted: 'a list of texts' };
  return texts.includes('')
    ? { ok: false, found: 'an empty item', accepted: 'items that are not empty' }
    : { ok: true, texts };
}

/** Renders the items up to the first error, because one error is enough to keep the objects of all. */
export function upToError<T extends { readonly kind: string }>(
  items: readonly string[],
  render: (item: string) => T,
): readonly T[] {
  const rendered: T[] = [];
  for (const item of items) {
    const each = render(item);
    rendered.push(each);
    if (each.kind === 'error') break;
  }
  return rendered;
}

/** With one error, the objects of all items stay as they are. Two items must not give one name. */
export function unlessOneFails(
  rendered: readonly Rendered<RenderedContent>[],
  refusal: (problem: TextProblem) => Rendered<RenderedContent>,
): readonly Rendered<RenderedContent>[] {
  const error = rendered.find(({ kind }) => kind === 'error');
  if (error !== undefined) return [error];
  const names = rendered.flatMap((each) => (each.kind === 'present' ? [each.value.name] : []));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return rendered;
  const found = `items that give the name ${quoted(twice)} twice`;
  const accepted = 'items that give each object a name of its own';
  return [refusal({ field: 'forEach', verb: 'has', found, accepted, lookups: [] })];
}
