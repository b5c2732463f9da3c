// Compiles one content whose texts may be templates over the Namespace, and renders it.
import { isJsonObject, ownMember, textAt } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import {
  allOf,
  both,
  compiled,
  mapped,
  refused,
  renderPath,
  type CompileResult,
  type Path,
  type Problem,
} from '../base/problem.ts';
import { clipped, quoted } from '../base/text.ts';
import { endOf } from '../base/time.ts';
import type { Bindings, Definitions, Evaluation, ExpressionScope, MetadataKey } from '../cel/expression.ts';
import { compileTemplate, goTemplateProblem, type Template } from '../cel/template.ts';
import type { RuleBudget } from '../rules/rule.ts';
import {
  unrendered,
  type CompiledTexts,
  type WrittenTexts,
  type CompiledContent,
  type ContentTemplate,
  type NotRendered,
  type Rendered,
  type RenderedContent,
  type RenderedValue,
  type TextCheck,
  type TextProblem,
  type WrittenContent,
} from './content.ts';
import { createOnce } from './create-once.ts';
import { compileList, textsIn, unlessOneFails, upToError } from './for-each.ts';

/** For an object, besides its texts: to build it, and to compare it with others. */
const contentUnits = 10;

export function compileContent(
  written: WrittenContent,
  definitions: Definitions,
): CompileResult<CompiledContent> {
  const { contentKind, value, path: content, name } = written;
  const expiry = contentKind.expiry?.(value);
  const template = contentKind.template(value);
  const source = ownMember(value, 'forEach');
  const place: Place = {
    content,
    field: [],
    template,
    scope: { variables: ['namespaceObject'], definitions },
  };
  const shown = { ...written, expiry, shownName: shownText(name, withItem(place)) };
  const repeated = source === undefined ? place : withItem(place);
  const parts = both(compileForEach(source, below(place, 'forEach')), compileValue(repeated));
  return mapped(parts, ([list, render]) => {
    const renderEach = list === undefined ? render : ofList(list, render);
    const renderOne = objectRenderer(shown, renderEach, contentOf(shown));
    return {
      ...written,
      isTemplated: list !== undefined || isTemplated(template),
      isCreatedOnce: ownMember(value, 'mode') === createOnce,
      expiry,
      render(namespaceObject, budget) {
        const whole = { namespaceObject };
        if (list === undefined) return [renderOne(whole, budget)];
        const items = list.itemsOf(whole, budget);
        const notRendered = (result: NotRendered) => unrendered(shownObject(shown, whole, budget), result);
        if (items.kind !== 'present') return [notRendered(items)];
        return unlessOneFails(
          upToError(items.value, (item) => renderOne({ namespaceObject, item }, budget)),
          (problem) => notRendered({ kind: 'error', problem: { ...problem, lookups: list.lookups } }),
        );
      },
    };
  });
}

/** `name` is the name of the object, as it is written. `build` returns what the rendered value stands for. */
export function compileTexts<T>(
  { template, path, type, name }: WrittenTexts,
  build: (rendered: unknown) => T,
): CompileResult<CompiledTexts<T>> {
  const place: Place = { content: path, field: [], template, scope: { variables: ['namespaceObject'] } };
  const shown = { type, shownName: shownText(name, place) };
  return mapped(compileValue(place), (render) => {
    const renderOne = objectRenderer<T>(shown, render, (value) => ({ kind: 'present', value: build(value) }));
    return {
      isTemplated: isTemplated(template),
      render: (namespaceObject, budget) => renderOne({ namespaceObject }, budget),
    };
  });
}

interface ShownContent extends WrittenContent, Pick<CompiledContent, 'expiry'> {
  readonly shownName: ShownName;
}
type ShownName = (bindings: NamespaceBindings, budget: RuleBudget) => string;
type ShownObject = Pick<ShownContent, 'type' | 'shownName'>;

function shownObject({ type, shownName }: ShownObject, bindings: NamespaceBindings, budget: RuleBudget) {
  return { type, name: clipped(shownName(bindings, budget)) };
}

type Build<T> = (rendered: unknown, namespaceObject: KubeObject) => Rendered<T>;

function objectRenderer<T>(shown: ShownObject, render: Renderer, build: Build<T>) {
  return (bindings: NamespaceBindings, budget: RuleBudget): Rendered<T> => {
    budget.spend(contentUnits);
    const rendered = render(bindings, budget);
    return rendered.kind === 'present'
      ? build(rendered.value, bindings.namespaceObject)
      : unrendered(shownObject(shown, bindings, budget), rendered);
  };
}

function contentOf({ contentKind, value, type, expiry }: ShownContent): Build<RenderedContent> {
  return (rendered, { metadata }) => {
    const name = textAt(rendered, contentKind.namePath);
    const form =
      contentKind.render === 'as-written'
        ? ({ kind: 'object', body: isJsonObject(rendered) ? rendered : {} } as const)
        : contentKind.render.build(rendered, value);
    if (form.kind === 'skip')
      return { kind: 'skipped', object: { type, name: clipped(name) }, message: form.message };
    const expiresAt = endOf(expiry ?? {}, metadata.creationTimestamp);
    return { kind: 'present', value: { name, form, ...(expiresAt === undefined ? {} : { expiresAt }) } };
  };
}

interface NamespaceBindings extends Bindings {
  readonly namespaceObject: KubeObject;
  readonly item?: string;
}

type Renderer<T = unknown> = (bindings: NamespaceBindings, budget: RuleBudget) => RenderedValue<T>;

function withItem(place: Place): Place {
  return { ...place, scope: { ...place.scope, variables: ['namespaceObject', 'item'] } };
}

const maxSourceLength = 200;
/** For a text, besides its expressions: to check it, and to put it into its place. */
const textUnits = 3;

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
      const lists = collect(renderers.map((render) => render(bindings, budget)));
      return lists.kind === 'present' ? { kind: 'present', value: lists.value.flat() } : lists;
    });
  }
  if (!isJsonObject(value)) return compiled(constant(value));
  const names = Object.keys(value);
  const fields = names.map((name) => compileAt(value[name], below(place, name)));
  return mapped(allOf(fields), (renderers) => (bindings, budget) => {
    const collected = collect(renderers.map((render) => render(bindings, budget)));
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
function problemsOf(template: Template, check: TextCheck, path: Path): readonly Problem[] {
  const goTemplate = goTemplateProblem(template, path);
  if (goTemplate.length > 0 || !template.literal) return goTemplate;
  const rendered = template.render({});
  if (!rendered.ok || check.accepts(rendered.value)) return [];
  const { value } = rendered;
  return [{ path, found: quoted(value), accepted: check.reserved?.get(value) ?? check.accepted }];
}

function textRenderer(template: Template, field: string, check: TextCheck | undefined): Renderer {
  return evaluated<string, string>(
    { ...template, evaluate: (bindings, work) => template.render(bindings, work) },
    field,
    (value, problem) =>
      check?.accepts(value) === false
        ? problem('is', quoted(value), check.reserved?.get(value) ?? check.accepted)
        : { kind: 'present', value },
  );
}

type ProblemOf = (verb: TextProblem['verb'], found: string, accepted: string) => NotRendered;

/** An expression, or a text with expressions. */
interface Evaluated<T> {
  readonly source: string;
  readonly lookups: readonly MetadataKey[];
  readonly evaluate: (bindings: Bindings, work: RuleBudget) => Evaluation<T>;
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

interface List {
  readonly itemsOf: Renderer<readonly string[]>;
  readonly lookups: readonly MetadataKey[];
}

/** The labels and annotations that the list looks up are a cause of each problem with an item. */
function ofList({ lookups }: List, render: Renderer): Renderer {
  return (bindings, budget) => {
    const result = render(bindings, budget);
    if (result.kind !== 'error') return result;
    const { problem } = result;
    return { kind: 'error', problem: { ...problem, lookups: [...problem.lookups, ...lookups] } };
  };
}

function listOfTexts(value: unknown, problem: ProblemOf): RenderedValue<readonly string[]> {
  const items = textsIn(value);
  return items.ok ? { kind: 'present', value: items.texts } : problem('has', items.found, items.accepted);
}

/** Returns undefined without an expression. The schema has checked that it is text. */
function compileForEach(source: unknown, { content, field, scope }: Place): CompileResult<List | undefined> {
  if (typeof source !== 'string') return compiled(undefined);
  return mapped(compileList(source, scope, [...content, ...field]), (list) => {
    const evaluate = (bindings: Bindings, work: RuleBudget): Evaluation => list.evaluate(bindings, work);
    const { lookups } = list;
    return { itemsOf: evaluated({ ...list, evaluate }, renderPath(field), listOfTexts), lookups };
  });
}

/** Compiles an item of a list. It renders to the items that it stands for. */
function compileItem(value: unknown, place: Place): CompileResult<Renderer> {
  const source = place.template.isRepeated?.(place.field) === true ? ownMember(value, 'forEach') : undefined;
  const { forEach: _forEach, ...repeated } = isJsonObject(value) ? value : {};
  const parts = both(
    compileForEach(source, below(place, 'forEach')),
    source === undefined ? compileAt(value, place) : compileAt(repeated, withItem(place)),
  );
  return mapped(parts, ([list, render]) => {
    if (list === undefined) return (bindings, budget) => collect([render(bindings, budget)]);
    const renderItem = ofList(list, render);
    return (bindings, budget) => {
      const items = list.itemsOf(bindings, budget);
      return items.kind === 'present'
        ? collect(upToError(items.value, (item) => renderItem({ ...bindings, item }, budget)))
        : items;
    };
  });
}

/** Returns how messages show a text: rendered if possible, else as the policy has it. */
function shownText(source: string, { scope }: Place): ShownName {
  const result = compileTemplate(source, scope);
  return (bindings, budget) => {
    const rendered = result.ok ? result.template.render(bindings, budget) : undefined;
    return rendered?.ok === true ? rendered.value : source;
  };
}

function constant(value: unknown): Renderer {
  return () => ({ kind: 'present', value });
}

/** An error in any part wins, then a missing label or annotation. */
function collect(parts: readonly RenderedValue[]): RenderedValue<readonly unknown[]> {
  const values: unknown[] = [];
  let missing: NotRendered | undefined;
  for (const part of parts) {
    if (part.kind === 'error') return part;
    if (part.kind === 'missing') missing ??= part;
    else values.push(part.value);
  }
  return missing ?? { kind: 'present', value: values };
}

/** True when a text in the value may hold an expression. */
function isTemplated(template: ContentTemplate): boolean {
  const written = JSON.stringify(template.value ?? null);
  return written.includes('${') || (template.isRepeated !== undefined && written.includes('"forEach":'));
}
