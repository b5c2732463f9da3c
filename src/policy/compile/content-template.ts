// Compiles a value whose texts may be templates over the Namespace, and renders it.
import { isJsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import {
  allOf,
  compiled,
  mapped,
  refused,
  renderPath,
  type CompileResult,
  type Path,
  type Problem,
} from '../../base/problem.ts';
import { clipped, quoted } from '../../base/text.ts';
import type { RuleBudget } from '../../rules/rule.ts';
import type { ExpressionScope, MetadataKey } from '../../cel/expression.ts';
import { compileTemplate, goTemplateProblem, type Template } from '../../cel/template.ts';
import {
  isLabelValue,
  isNamespaceName,
  isReservedSubject,
  isSubdomain,
  reservedPrefix,
} from '../../base/kubernetes-names.ts';
import type { RoleBindingContent } from '../../api/namespace-policy/namespace-policy.ts';

/** A text that cannot be rendered, or that Kubernetes would refuse. */
export interface TextProblem {
  /** The path of the text within the content, such as `subjects[0].name`. */
  readonly field: string;
  readonly verb: 'is' | 'has';
  /** Completes a sentence about the field after the verb: `"system:masters"`, `an error: …`. */
  readonly found: string;
  readonly accepted: string;
  readonly lookups: readonly MetadataKey[];
}

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
  readonly checks: TextChecks;
}

/** Every text in the content is a template, except `fixedFields` of the root and the `kind` of subjects. */
export function compileValue(
  value: unknown,
  content: Path,
  fixedFields: readonly string[],
  checks: TextChecks,
): CompileResult<Renderer> {
  const place = { content, field: [], checks };
  if (isTemplated(value)) return compileAt(value, place, fixedFields);
  // The functions for a long object without expressions would take ten times its memory.
  const problems = literalProblems(value, place, fixedFields);
  return problems.length > 0 ? refused(problems) : compiled(constant(value));
}

/** Checks the texts of a value that has no expression. */
function literalProblems(value: unknown, place: Place, fixedFields: readonly string[]): readonly Problem[] {
  if (typeof value === 'string') {
    const check = place.checks(place.field);
    const result = check === undefined ? undefined : compileText(value, place);
    return result?.ok === false ? result.problems : [];
  }
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => literalProblems(item, below(place, index), fixedFields));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    fixedFields.includes(name) ? [] : literalProblems(field, below(place, name), fixedBelow(name)),
  );
}

function below(place: Place, step: string | number): Place {
  return { ...place, field: [...place.field, step] };
}

/** Below the first level, other fields called `kind` are templates too. */
function fixedBelow(name: string): readonly string[] {
  return name === 'subjects' ? ['kind'] : [];
}

function compileAt(value: unknown, place: Place, fixedFields: readonly string[]): CompileResult<Renderer> {
  if (typeof value === 'string') return compileText(value, place);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => compileAt(item, below(place, index), fixedFields));
    return mapped(
      allOf(items),
      (renderers) => (namespaceObject, budget) => collect(renderers, namespaceObject, budget),
    );
  }
  if (!isJsonObject(value)) return compiled(constant(value));
  const names = Object.keys(value);
  const fields = names.map((name) => {
    if (fixedFields.includes(name)) return compiled(constant(value[name]));
    return compileAt(value[name], below(place, name), fixedBelow(name));
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

function compileText(source: string, place: Place): CompileResult<Renderer> {
  const path = [...place.content, ...place.field];
  const result = compileTemplate(source, scope);
  if (!result.ok) {
    const accepted = 'text with CEL in ${ }, over namespaceObject';
    return refused([{ path, found: result.problem.message, accepted, offset: result.problem.offset }]);
  }
  const { template } = result;
  const check = place.checks(place.field);
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
export function shownText(source: string): (namespaceObject: KubeObject) => string {
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
export function isTemplated(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes('${');
}

// Says which names, subjects and labels of provided objects Kubernetes accepts.

interface TextCheck {
  readonly accepts: (text: string) => boolean;
  readonly accepted: string;
}

/** Returns the check of the text at a path within a content; undefined for text that can be anything. */
export type TextChecks = (field: Path) => TextCheck | undefined;

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names */
const pathSegment: TextCheck = {
  accepts: (name) => name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name),
  accepted: 'a name that is not empty, not "." or "..", and has no "/" or "%"',
};

const subdomain: TextCheck = {
  accepts: isSubdomain,
  accepted: 'at most 253 small letters, digits, - and ., with a letter or digit at both ends',
};

const namespaceName: TextCheck = {
  accepts: isNamespaceName,
  accepted: 'the name of a namespace: at most 63 small letters, digits and -',
};

const labelValue: TextCheck = {
  accepts: isLabelValue,
  accepted: 'a label value: at most 63 letters, digits, -, _ and ., with a letter or digit at both ends',
};

/** A space at an end, as `a, b` gives when it is split at the comma, would make the subject another one. */
function userOrGroup(kind: string): TextCheck {
  return {
    accepts: (name) => name !== '' && name === name.trim() && !isReservedSubject({ kind, name }),
    accepted: `a ${kind} outside ${reservedPrefix}, which Kubernetes reserves; not empty, and without spaces at its ends`,
  };
}

const users = { User: userOrGroup('User'), Group: userOrGroup('Group') };

export function roleBindingChecks({ subjects }: RoleBindingContent): TextChecks {
  return ([field, index, part]) => {
    if (field === 'name') return pathSegment;
    const kind = typeof index === 'number' ? subjects[index]?.kind : undefined;
    if (kind === undefined) return undefined;
    if (kind !== 'ServiceAccount') return users[kind];
    return part === 'namespace' ? namespaceName : subdomain;
  };
}

/** The name of a ServiceAccount, and those of its Secrets. */
export const accountChecks: TextChecks = () => subdomain;

/** The kinds of Kubernetes itself need a DNS subdomain. Other groups can have rules of their own. */
export function resourceChecks(apiVersion: string): TextChecks {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  const name = !group.includes('.') || group.endsWith('.k8s.io') ? subdomain : pathSegment;
  return ([first, second]) => {
    if (first !== 'metadata') return undefined;
    if (second === 'name') return name;
    return second === 'labels' ? labelValue : undefined;
  };
}
