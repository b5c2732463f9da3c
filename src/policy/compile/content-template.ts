// Compiles a value whose texts may be templates over the Namespace, and renders it.
import { isJsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Path } from '../../base/problem.ts';
import type { Budget } from '../terms/budget.ts';
import type { ExpressionScope } from '../../cel/expression.ts';
import { allOf, compiled, mapped, refused, type CompileResult } from '../terms/compile-result.ts';
import { compileTemplate } from '../terms/template.ts';

export type Rendered<T = unknown> =
  | { readonly kind: 'present'; readonly value: T }
  /** The namespace lacks a label or annotation that the template reads, so the object is not desired. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'error'; readonly message: string };

type Renderer = (namespaceObject: KubeObject, budget: Budget) => Rendered;

const overBudget: Rendered<never> = { kind: 'error', message: 'the time for this request ran out' };

const scope: ExpressionScope = { variables: ['namespaceObject'] };

/** Every text in the value is a template, except `fixedFields` of the root and the `kind` of subjects. */
export function compileValue(
  value: unknown,
  path: Path,
  fixedFields: readonly string[],
): CompileResult<Renderer> {
  if (typeof value === 'string') return compileText(value, path);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => compileValue(item, [...path, index], fixedFields));
    return mapped(
      allOf(items),
      (renderers) => (namespaceObject, budget) => collect(renderers, namespaceObject, budget),
    );
  }
  if (!isJsonObject(value)) return compiled(constant(value));
  const names = Object.keys(value);
  const fields = names.map((name) => {
    if (fixedFields.includes(name)) return compiled(constant(value[name]));
    // Below the first level, other fields called `kind` are templates too.
    return compileValue(value[name], [...path, name], name === 'subjects' ? ['kind'] : []);
  });
  return mapped(allOf(fields), (renderers) => (namespaceObject, budget) => {
    const collected = collect(renderers, namespaceObject, budget);
    if (collected.kind !== 'present') return collected;
    return {
      kind: 'present',
      value: Object.fromEntries(names.map((name, index) => [name, collected.value[index]])),
    };
  });
}

function compileText(source: string, path: Path): CompileResult<Renderer> {
  const result = compileTemplate(source, scope);
  if (!result.ok) {
    const accepted = 'text with CEL in ${ }, over namespaceObject';
    return refused([{ path, found: result.problem.message, accepted, offset: result.problem.offset }]);
  }
  return compiled((namespaceObject, budget) => {
    if (budget.isSpent()) return overBudget;
    const rendered = result.template.render({ namespaceObject });
    if (rendered.ok) return { kind: 'present', value: rendered.value };
    return rendered.reason === 'missing' ? { kind: 'absent' } : { kind: 'error', message: rendered.message };
  });
}

function constant(value: unknown): Renderer {
  return () => ({ kind: 'present', value });
}

/** An error in any part wins, then an absent part. */
function collect(
  renderers: readonly Renderer[],
  namespaceObject: KubeObject,
  budget: Budget,
): Rendered<readonly unknown[]> {
  const parts = renderers.map((render) => render(namespaceObject, budget));
  const error = parts.find((part) => part.kind === 'error');
  if (error !== undefined) return error;
  const values = parts.flatMap((part) => (part.kind === 'present' ? [part.value] : []));
  return values.length === parts.length ? { kind: 'present', value: values } : { kind: 'absent' };
}

/** True when a text in the value may hold an expression. */
export function isTemplated(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes('${');
}
