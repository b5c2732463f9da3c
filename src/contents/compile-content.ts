// Compiles the texts of a content, which may be templates over the Namespace, and what stands once for each item of a list.
import { isJsonObject, ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import {
  allOf,
  compiled,
  mapped,
  refused,
  renderPath,
  type CompileResult,
  type Path,
  type Problem,
} from '../base/problem.ts';
import { clipped, quoted } from '../base/text.ts';
import { isSubdomain } from '../base/kubernetes-names.ts';
import {
  compileExpression,
  type Bindings,
  type Evaluation,
  type ExpressionScope,
  type MetadataKey,
} from '../cel/expression.ts';
import { compileTemplate, goTemplateProblem, type Template } from '../cel/template.ts';
import type { RuleBudget } from '../rules/rule.ts';
import { expression } from '../schema/common-fields.ts';
import { text } from '../schema/schema.ts';
import type { ContentTemplate, TextCheck, TextProblem } from './content.ts';

/** The result of a template. */
export type RenderedValue<T = unknown> =
  | { readonly kind: 'present'; readonly value: T }
  /** The namespace lacks a label or annotation that the template looks up. */
  | { readonly kind: 'missing'; readonly message: string }
  | { readonly kind: 'error'; readonly problem: TextProblem };

export interface NamespaceBindings extends Bindings {
  readonly namespaceObject: KubeObject;
  /** The item of a `forEach`. */
  readonly item?: string;
}

export type Renderer<T = unknown> = (bindings: NamespaceBindings, budget: RuleBudget) => RenderedValue<T>;

const plainScope: ExpressionScope = { variables: ['namespaceObject'] };
const itemScope: ExpressionScope = { variables: ['namespaceObject', 'item'] };
const maxSourceLength = 200;
/** For a text, besides its expressions: to check it, and to put it into its place. */
const textUnits = 3;

/** A content as its templates see it. */
interface Templated {
  readonly content: Path;
  readonly template: ContentTemplate;
  readonly forEach: unknown;
}

interface CompiledTemplate {
  readonly isTemplated: boolean;
  /** Undefined for a content that stands once. */
  readonly itemsOf: Renderer<readonly string[]> | undefined;
  readonly render: Renderer;
}

export function compileTemplates({
  content,
  template,
  forEach: source,
}: Templated): CompileResult<CompiledTemplate> {
  const place = { content, field: [], template, scope: plainScope };
  const items = compileForEach(source, { ...place, field: ['forEach'] });
  const value = compileValue(source === undefined ? place : { ...place, scope: itemScope });
  return mapped(both(items, value), ([itemsOf, render]) => ({
    isTemplated: source !== undefined || isTemplated(template),
    itemsOf,
    render,
  }));
}

function both<A, B>(a: CompileResult<A>, b: CompileResult<B>): CompileResult<readonly [A, B]> {
  if (a.ok && b.ok) return compiled([a.value, b.value]);
  return refused([...(a.ok ? [] : a.problems), ...(b.ok ? [] : b.problems)]);
}

/** The place of a value: the path in the policy of the content, and of the value within the content. */
interface Place {
  readonly content: Path;
  readonly field: Path;
  readonly template: ContentTemplate;
  readonly scope: ExpressionScope;
}

/** Every text in the content is a template, except in the parts that are fixed. */
function compileValue(place: Place): CompileResult<Renderer> {
  const { value } = place.template;
  if (isTemplated(place.template)) return compileAt(value, place);
  // The functions for a long object without expressions would take ten times its memory.
  const problems = literalProblems(value, place);
  return problems.length > 0 ? refused(problems) : compiled(constant(value));
}

/** Checks the texts of a value that has no expression. */
function literalProblems(value: unknown, place: Place): readonly Problem[] {
  if (place.template.isFixed(place.field)) return [];
  if (typeof value === 'string') {
    const check = place.template.checks(place.field);
    const result = check === undefined ? undefined : compileText(value, place);
    return result?.ok === false ? result.problems : [];
  }
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => literalProblems(item, below(place, index)));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => literalProblems(field, below(place, name)));
}

function below(place: Place, step: string | number): Place {
  return { ...place, field: [...place.field, step] };
}

function compileAt(value: unknown, place: Place): CompileResult<Renderer> {
  if (place.template.isFixed(place.field)) return compiled(constant(value));
  if (typeof value === 'string') return compileText(value, place);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => compileItem(item, below(place, index)));
    return mapped(allOf(items), (renderers) => (bindings, budget) => {
      const collected = collect(renderers, bindings, budget);
      if (collected.kind !== 'present') return collected;
      const values = collected.value.flatMap((each) => (each instanceof Items ? each.values : [each]));
      return { kind: 'present', value: values };
    });
  }
  if (!isJsonObject(value)) return compiled(constant(value));
  const names = Object.keys(value);
  const fields = names.map((name) => compileAt(value[name], below(place, name)));
  return mapped(allOf(fields), (renderers) => (bindings, budget) => {
    const collected = collect(renderers, bindings, budget);
    if (collected.kind !== 'present') return collected;
    return {
      kind: 'present',
      value: Object.fromEntries(names.map((name, index) => [name, collected.value[index]])),
    };
  });
}

function compileText(source: string, place: Place): CompileResult<Renderer> {
  const path = [...place.content, ...place.field];
  const result = compileTemplate(source, place.scope);
  if (!result.ok) {
    const accepted = `text with CEL in \${ }, over ${place.scope.variables.join(' and ')}`;
    return refused([{ path, found: result.problem.message, accepted, offset: result.problem.offset }]);
  }
  const { template } = result;
  const check = place.template.checks(place.field);
  const problems = check === undefined ? [] : problemsOf(template, check, path);
  return problems.length > 0
    ? refused(problems)
    : compiled(textRenderer(template, renderPath(place.field), check));
}

/** Text without an expression is checked once, here. */
function problemsOf(template: Template, { accepts, accepted }: TextCheck, path: Path): readonly Problem[] {
  const goTemplate = goTemplateProblem(template, path);
  if (goTemplate.length > 0 || !template.literal) return goTemplate;
  const rendered = template.render({});
  return !rendered.ok || accepts(rendered.value) ? [] : [{ path, found: quoted(rendered.value), accepted }];
}

function textRenderer(template: Template, field: string, check: TextCheck | undefined): Renderer {
  return evaluated<string, string>(
    { ...template, evaluate: (bindings, work) => template.render(bindings, work) },
    field,
    (value, problem) =>
      check?.accepts(value) === false
        ? problem('is', quoted(value), check.accepted)
        : { kind: 'present', value },
  );
}

export type Unrendered = Exclude<RenderedValue, { kind: 'present' }>;
type ProblemOf = (verb: TextProblem['verb'], found: string, accepted: string) => Unrendered;

/** An expression, or a text with expressions. */
interface Evaluated<T> {
  readonly source: string;
  readonly lookups: readonly MetadataKey[];
  evaluate(bindings: Bindings, work: RuleBudget): Evaluation<T>;
}

function evaluated<T, R>(
  { source, lookups, evaluate }: Evaluated<T>,
  field: string,
  accept: (value: T, problem: ProblemOf) => RenderedValue<R>,
): Renderer<R> {
  const problem: ProblemOf = (verb, found, accepted) => ({
    kind: 'error',
    problem: { field, verb, found, accepted, lookups },
  });
  return (bindings, budget) => {
    if (budget.isSpent())
      return problem('has', 'an error: the budget of this request is used up', 'a smaller template');
    budget.spend(textUnits);
    const result = evaluate(bindings, budget);
    if (result.ok) return accept(result.value, problem);
    if (result.reason === 'missing') return { kind: 'missing', message: result.message };
    const accepted = `a value for which ${clipped(source, maxSourceLength)} has a result`;
    return problem('has', `an error: ${result.message}`, accepted);
  };
}

// What stands once for each item of a list.

const maxItems = 100;

export const forEach = expression(
  `CEL over namespaceObject that gives a list of at most ${maxItems} texts. The entry stands once for each of them, and its templates see the text as item. Example: namespaceObject.metadata.annotations['ad/edit'].split(',').map(g, g.trim()).`,
);

/** The values of a list item with a `forEach`. */
class Items {
  readonly values: readonly unknown[];

  constructor(values: readonly unknown[]) {
    this.values = values;
  }
}

/** Returns undefined without an expression. */
function compileForEach(
  source: unknown,
  place: Place,
): CompileResult<Renderer<readonly string[]> | undefined> {
  if (source === undefined) return compiled(undefined);
  const path = [...place.content, ...place.field];
  const result = compileExpression(String(source), place.scope, 'strings');
  if (!result.ok) {
    const { message, offset } = result.problem;
    return refused([
      { path, found: message, accepted: 'CEL over namespaceObject that gives a list of texts', offset },
    ]);
  }
  const { expression: compiledList } = result;
  return compiled(
    evaluated<unknown, readonly string[]>(compiledList, renderPath(place.field), (value, problem) => {
      const items: readonly unknown[] = Array.isArray(value) ? value : [];
      if (items.length > maxItems) return problem('has', `${items.length} items`, `at most ${maxItems}`);
      const texts = items.filter((each) => typeof each === 'string');
      if (texts.length < items.length) return problem('has', 'an item that is no text', 'a list of texts');
      if (texts.includes('')) return problem('has', 'an empty item', 'items that are not empty');
      return { kind: 'present', value: texts };
    }),
  );
}

/** Compiles an item of a list, which may stand for several. */
function compileItem(value: unknown, place: Place): CompileResult<Renderer> {
  const source = place.template.isRepeated?.(place.field) === true ? ownMember(value, 'forEach') : undefined;
  if (source === undefined || !isJsonObject(value)) return compileAt(value, place);
  const { forEach: _forEach, ...item } = value;
  const parts = both(
    compileForEach(source, below(place, 'forEach')),
    compileAt(item, { ...place, scope: itemScope }),
  );
  return mapped(parts, ([itemsOf, render]) => (bindings, budget) => {
    const items = itemsOf?.(bindings, budget) ?? { kind: 'present', value: [] };
    if (items.kind !== 'present') return items;
    const each = items.value.map(
      (text): Renderer =>
        () =>
          render({ ...bindings, item: text }, budget),
    );
    const collected = collect(each, bindings, budget);
    return collected.kind === 'present' ? { kind: 'present', value: new Items(collected.value) } : collected;
  });
}

/** Returns how messages show a text: rendered if possible, else as the policy has it. */
export function shownText(source: string): (bindings: NamespaceBindings) => string {
  const result = compileTemplate(source, itemScope);
  return (bindings) => {
    const rendered = result.ok ? result.template.render(bindings) : undefined;
    return rendered?.ok === true ? rendered.value : source;
  };
}

function constant(value: unknown): Renderer {
  return () => ({ kind: 'present', value });
}

/** An error in any part wins, then a missing label or annotation. */
function collect(
  renderers: readonly Renderer[],
  bindings: NamespaceBindings,
  budget: RuleBudget,
): RenderedValue<readonly unknown[]> {
  const parts = renderers.map((render) => render(bindings, budget));
  const values: unknown[] = [];
  let missing: RenderedValue<never> | undefined;
  for (const part of parts) {
    if (part.kind === 'error') return part;
    if (part.kind === 'missing') missing ??= part;
    else values.push(part.value);
  }
  return missing ?? { kind: 'present', value: values };
}

/** True when a text in the value may hold an expression. */
function isTemplated({ value, isRepeated }: ContentTemplate): boolean {
  const written = JSON.stringify(value ?? null);
  return written.includes('${') || (isRepeated !== undefined && written.includes('"forEach":'));
}

// The fields and names that several kinds of content share.

/** What the description of a field with a template says of it. */
export const templateHint =
  'Text or a template: CEL in ${ } sees namespaceObject, the Namespace; $${ is a literal ${.';

export function templateText(description: string, maxLength: number) {
  return text({ description, minLength: 1, maxLength, braces: 'template' });
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names */
export const pathSegment: TextCheck = {
  accepts: (name) => name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name),
  accepted: 'a name that is not empty, not "." or "..", and has no "/" or "%"',
};

export const subdomain: TextCheck = {
  accepts: isSubdomain,
  accepted: 'at most 253 small letters, digits, - and ., with a letter or digit at both ends',
};
