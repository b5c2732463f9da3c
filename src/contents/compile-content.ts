// Compiles one content whose texts may be templates over the Namespace, and renders it.
import { isJsonObject, ownMember } from '../base/json.ts';
import { keyText, type KubeObject } from '../base/metadata.ts';
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
import { parseDuration } from '../base/time.ts';
import { isSubdomain } from '../base/kubernetes-names.ts';
import type { ExpressionScope } from '../cel/expression.ts';
import { compileTemplate, goTemplateProblem, type Template } from '../cel/template.ts';
import type { RuleBudget } from '../rules/rule.ts';
import { text } from '../schema/schema.ts';
import type {
  CompiledContent,
  ContentTemplate,
  RenderedContent,
  TextCheck,
  TextProblem,
  WrittenContent,
} from './content.ts';

/** For an object, besides its texts: to build it, and to compare it with others. */
const contentUnits = 10;

export function compileContent(written: WrittenContent): CompileResult<CompiledContent> {
  const { contentKind, value, path, type, name } = written;
  const template = contentKind.template(value);
  const shownName = shownText(name);
  const expiry = expiryOf(written);
  return mapped(compileValue(template, path), (render) => ({
    ...written,
    isTemplated: isTemplated(template.value),
    expiry,
    render(namespaceObject, budget) {
      budget.spend(contentUnits);
      const rendered = render(namespaceObject, budget);
      if (rendered.kind === 'present')
        return { kind: 'present', value: contentOf(written, rendered.value, endOf(expiry, namespaceObject)) };
      const object = { type, name: clipped(shownName(namespaceObject)) };
      if (rendered.kind === 'missing') return { kind: 'skipped', object, message: rendered.message };
      const { problem } = rendered;
      return { kind: 'error', object, message: problemText(problem), problem };
    },
  }));
}

/** `subjects[0].name (from annotation team) is ""; accepted: …` */
function problemText({ field, verb, found, accepted, lookups }: TextProblem): string {
  const from =
    lookups.length === 0
      ? ''
      : ` (from ${lookups.map(({ field: of, key }) => keyText(of, key)).join(' and ')})`;
  return `${field}${from} ${verb} ${found}; accepted: ${accepted}`;
}

function contentOf(
  { contentKind, value }: WrittenContent,
  rendered: unknown,
  expiresAt: number | undefined,
): RenderedContent {
  return {
    name: nameIn(rendered, contentKind.namePath),
    form:
      contentKind.render === 'as-written'
        ? { kind: 'object', body: isJsonObject(rendered) ? rendered : {} }
        : contentKind.render.build(rendered, value),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** Returns the name of the object that a content, or its rendered template, describes. */
export function nameIn(value: unknown, namePath: Path): string {
  return String(namePath.reduce<unknown>((part, step) => ownMember(part, String(step)), value));
}

function expiryOf({ contentKind, value }: WrittenContent): CompiledContent['expiry'] {
  const expiry = contentKind.expiry?.(value);
  return (expiry?.expiresAfter ?? expiry?.expiresAt) === undefined ? undefined : expiry;
}

/** Returns the time in milliseconds since the epoch. */
function endOf(
  { expiresAfter, expiresAt }: CompiledContent['expiry'] = {},
  { metadata }: KubeObject,
): number | undefined {
  if (expiresAt !== undefined) return Date.parse(expiresAt);
  const lifetime = expiresAfter === undefined ? undefined : parseDuration(expiresAfter);
  const { creationTimestamp } = metadata;
  if (lifetime === undefined || typeof creationTimestamp !== 'string') return undefined;
  return Date.parse(creationTimestamp) + lifetime;
}

// Compiles a value whose texts may be templates.

type RenderedValue<T = unknown> =
  | { readonly kind: 'present'; readonly value: T }
  /** The namespace lacks a label or annotation that the template looks up. */
  | { readonly kind: 'missing'; readonly message: string }
  | { readonly kind: 'error'; readonly problem: TextProblem };

type Renderer = (namespaceObject: KubeObject, budget: RuleBudget) => RenderedValue;

const scope: ExpressionScope = { variables: ['namespaceObject'] };
const maxSourceLength = 200;
/** For a text, besides its expressions: to check it, and to put it into its place. */
const textUnits = 3;

/** The place of a value: the path in the policy of the content, and of the value within the content. */
interface Place {
  readonly content: Path;
  readonly field: Path;
  readonly template: ContentTemplate;
}

/** Every text in the content is a template, except in the parts that are fixed. */
function compileValue(template: ContentTemplate, content: Path): CompileResult<Renderer> {
  const { value } = template;
  const place = { content, field: [], template };
  if (isTemplated(value)) return compileAt(value, place);
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
    const items = value.map((item: unknown, index) => compileAt(item, below(place, index)));
    return mapped(
      allOf(items),
      (renderers) => (namespaceObject, budget) => collect(renderers, namespaceObject, budget),
    );
  }
  if (!isJsonObject(value)) return compiled(constant(value));
  const names = Object.keys(value);
  const fields = names.map((name) => compileAt(value[name], below(place, name)));
  return mapped(allOf(fields), (renderers) => (namespaceObject, budget) => {
    const collected = collect(renderers, namespaceObject, budget);
    if (collected.kind !== 'present') return collected;
    return {
      kind: 'present',
      value: Object.fromEntries(names.map((name, index) => [name, collected.value[index]])),
    };
  });
}

function compileText(source: string, place: Place): CompileResult<Renderer> {
  const path = [...place.content, ...place.field];
  const result = compileTemplate(source, scope);
  if (!result.ok) {
    const accepted = 'text with CEL in ${ }, over namespaceObject';
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
  const { lookups } = template;
  const problem = (verb: TextProblem['verb'], found: string, accepted: string): RenderedValue => ({
    kind: 'error',
    problem: { field, verb, found, accepted, lookups },
  });
  return (namespaceObject, budget) => {
    if (budget.isSpent())
      return problem('has', 'an error: the budget of this request is used up', 'a smaller template');
    budget.spend(textUnits);
    const rendered = template.render({ namespaceObject }, budget);
    if (rendered.ok) {
      const { value } = rendered;
      if (check?.accepts(value) !== false) return { kind: 'present', value };
      return problem('is', quoted(value), check.accepted);
    }
    if (rendered.reason === 'missing') return { kind: 'missing', message: rendered.message };
    const accepted = `a value for which ${clipped(template.source, maxSourceLength)} has a result`;
    return problem('has', `an error: ${rendered.message}`, accepted);
  };
}

/** Returns how messages show a text: rendered if possible, else as the policy has it. */
function shownText(source: string): (namespaceObject: KubeObject) => string {
  const result = compileTemplate(source, scope);
  return (namespaceObject) => {
    const rendered = result.ok ? result.template.render({ namespaceObject }) : undefined;
    return rendered?.ok === true ? rendered.value : source;
  };
}

function constant(value: unknown): Renderer {
  return () => ({ kind: 'present', value });
}

/** An error in any part wins, then a missing label or annotation. */
function collect(
  renderers: readonly Renderer[],
  namespaceObject: KubeObject,
  budget: RuleBudget,
): RenderedValue<readonly unknown[]> {
  const parts = renderers.map((render) => render(namespaceObject, budget));
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
function isTemplated(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes('${');
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
