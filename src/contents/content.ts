// Defines the form of a kind of content: its field, what a namespace gets of it, the rights it requires, and how two versions compare.
import type { JsonObject } from '../base/json.ts';
import { keyText, type KubeObject } from '../base/metadata.ts';
import type { ObjectType } from '../base/object-type.ts';
import type { Path } from '../base/problem.ts';
import type { MetadataKey } from '../cel/expression.ts';
import type { RuleBudget } from '../rules/rule.ts';
import type { ListSchema } from '../schema/schema.ts';

/** One kind of content of the catalogue, in one file. The other rooms derive from it what they need of a content, a `C`. */
export interface ContentKind<N extends string = string, C = unknown> {
  /** The name of the list in `spec.contents`. */
  readonly name: N;
  readonly field: ListSchema<C>;
  /** `object`: Reeve owns the whole object. `fields`: Reeve adds fields to an object of another owner, and takes them back. */
  readonly ownership: 'object' | 'fields';
  /** Undefined: each content has an apiVersion and a kind of its own, which the installation must allow. */
  readonly type: ObjectType | undefined;
  /** Where a content has the name of its object. The name can be a template. */
  readonly namePath: Path;
  /** Set if Reeve removes fields of the object that it did not write. */
  readonly ownsAllFields?: true;
  /** Set if policies have rules on the objects. */
  readonly judgedAs?: 'rolebindings';
  template(content: C): ContentTemplate;
  /** `as-written`: the rendered template is the object. */
  readonly render: 'as-written' | Builder<C>;
  /** Left out if no object of the kind expires. Messages call what expires RoleBindings that grant access. */
  expiry?(content: C): Expiry | undefined;
  /** `resourceOf` returns the resource name of a kind: `configmaps`. */
  rights(content: C, resourceOf: (type: ObjectType) => string): readonly ContentRight[];
  /** Left out if the kind binds no ClusterRole. */
  boundRole?(content: C): BoundRole;
  /** `by-field`: the fields of the content say all. */
  readonly compare: 'by-field' | Comparison<C>;
}

/** Keeps the types of the name and of the field. */
export function contentKind<const N extends string, C>(kind: ContentKind<N, C>): ContentKind<N, C> {
  return kind;
}

/** The part of a content whose texts are templates. */
export interface ContentTemplate {
  readonly value: unknown;
  /** Returns true for the path of a part of the value that is never a template. */
  isFixed(field: Path): boolean;
  readonly checks: TextChecks;
  /** Returns true for the path of a list item that may have a `forEach` of its own. */
  isRepeated?(field: Path): boolean;
}

/** Returns the check of the text at a path within a content; undefined for text that can be anything. */
export type TextChecks = (field: Path) => TextCheck | undefined;

export interface TextCheck {
  readonly accepts: (text: string) => boolean;
  readonly accepted: string;
  /** Texts that only look acceptable, each with what is accepted in its place. */
  readonly reserved?: ReadonlyMap<string, string>;
}

interface Expiry {
  readonly expiresAfter?: string;
  readonly expiresAt?: string;
}

interface BoundRole {
  readonly name: string;
  /** The path of the name within the content. */
  readonly field: Path;
}

/** Verbs on objects of one resource, which the author of a content needs. */
export interface ContentRight {
  readonly verbs: readonly string[];
  readonly group: string;
  readonly resource: string;
  /** Left out: all objects of the resource. */
  readonly name?: string;
  /** The purpose of the right, as it follows "may not": "hand out ClusterRole edit". */
  readonly effect: string;
  /** The path within the content of the field that requires the right. Undefined: each content of the list requires it. */
  readonly field: Path | undefined;
  /** Set if the right hands something out, so that a suspended policy requires it too: what it provides outlasts it. */
  readonly handsOut?: true;
  /** What Reeve's own account needs on the same objects, and what for. */
  readonly own: {
    readonly purpose: 'reconciler' | 'bind' | 'resources';
    readonly verbs: readonly string[];
  };
}

/** The verbs that write objects. Reeve never sends an update: it applies or patches. */
export const writing = ['create', 'patch', 'delete'] as const;
/** The verbs that keep objects in sync. */
export const keeping = ['get', 'list', 'watch', ...writing] as const;

/** Builds what a namespace gets from the rendered template. */
interface Builder<C> {
  build(rendered: unknown, content: C): WholeObject | FieldsOnly | Skip;
}

/** The rendered template is no object that a namespace can get. */
interface Skip {
  readonly kind: 'skip';
  /** Why, in a sentence. */
  readonly message: string;
}

/** Compares two versions of a content in words of its own. */
interface Comparison<C> {
  /** What a warning says of a content that is added: `ClusterRole view`. */
  summary(content: C): string;
  differences(before: C, after: C): readonly Difference[];
  /** True if the newer version only takes something away, so that its author needs no right. */
  isReduced(before: C, after: C): boolean;
}

/** One difference between two versions of a content. */
export type Difference =
  | { readonly what: string; readonly before: string; readonly after: string; readonly isReplaced?: true }
  | { readonly verb: 'adds' | 'removes'; readonly items: readonly string[] };

/** A content as a policy has it. */
export interface WrittenContent {
  readonly contentKind: ContentKind;
  /** What the schema of the kind accepts. */
  readonly value: unknown;
  readonly path: Path;
  readonly type: ObjectType;
  /** As the policy has it: can be a template. */
  readonly name: string;
}

/** An object that each matched namespace gets, or fields of one. */
export interface CompiledContent extends WrittenContent {
  /** True if its texts have expressions, so that a namespace can make it fail. */
  readonly isTemplated: boolean;
  /** True if the object is created once and then left to its namespace. */
  readonly isCreatedOnce: boolean;
  /** Undefined if the object does not expire. */
  readonly expiry: Expiry | undefined;
  /** Returns one result; with `forEach`, one for each item, or a single error. */
  render(namespaceObject: KubeObject, budget: RuleBudget): readonly Rendered<RenderedContent>[];
}

/** Fields for a ServiceAccount of another owner. */
interface AccountFields {
  /** Names of Secrets. */
  readonly pullSecrets: readonly string[];
  readonly automount: boolean | undefined;
}

/** A whole object, still without its namespace and the marks of its owner. */
export interface WholeObject {
  readonly kind: 'object';
  readonly body: JsonObject;
}

export interface FieldsOnly {
  readonly kind: 'fields';
  readonly fields: AccountFields;
}

export interface RenderedContent {
  readonly name: string;
  readonly form: WholeObject | FieldsOnly;
  /** Milliseconds since the epoch. From then on the object is not desired. */
  readonly expiresAt?: number;
}

/** Set if an exception of the policy keeps the namespace without the content, whatever its template gives there. */
interface Excepted {
  readonly exception?: { readonly until: number; readonly message: string };
}

export function isExceptedAt({ exception }: Excepted, now: Date): boolean {
  return exception !== undefined && now.getTime() < exception.until;
}

/** Returns whether the namespace gets the object now. */
export function isDueAt(rendered: Rendered<RenderedContent>, now: Date): boolean {
  if (rendered.kind !== 'present' || isExceptedAt(rendered, now)) return false;
  return now.getTime() < (rendered.value.expiresAt ?? Infinity);
}

/** An object that a namespace does not get, because its template gives nothing there. */
interface Unrendered {
  /** The name is as rendered, else as the policy has it. */
  readonly object: { readonly type: ObjectType; readonly name: string };
  /** Why, in a sentence. */
  readonly message: string;
}

export type Rendered<T> = Excepted &
  (
    | { readonly kind: 'present'; readonly value: T }
    /** The namespace lacks a label or annotation that the template looks up, so the object is not desired. */
    | ({ readonly kind: 'skipped' } & Unrendered)
    | ({ readonly kind: 'error'; readonly problem: TextProblem } & Unrendered)
  );

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

/** The result of a template. */
export type RenderedValue<T = unknown> =
  | { readonly kind: 'present'; readonly value: T }
  /** The namespace lacks a label or annotation that the template looks up. */
  | { readonly kind: 'missing'; readonly message: string }
  | { readonly kind: 'error'; readonly problem: TextProblem };

export type NotRendered = Exclude<RenderedValue, { kind: 'present' }>;

export function unrendered(object: Unrendered['object'], result: NotRendered): Rendered<never> {
  if (result.kind === 'missing') return { kind: 'skipped', object, message: result.message };
  const { problem } = result;
  return { kind: 'error', object, message: problemText(problem), problem };
}

/** `subjects[0].name (from annotation team) is ""; accepted: …` */
function problemText({ field, verb, found, accepted, lookups }: TextProblem): string {
  const causes = new Set(lookups.map(({ field: of, key }) => keyText(of, key)));
  const from = causes.size === 0 ? '' : ` (from ${[...causes].join(' and ')})`;
  return `${field}${from} ${verb} ${found}; accepted: ${accepted}`;
}

/** A value whose texts may be templates, compiled. */
export interface CompiledTexts<T> {
  /** True if its texts have expressions, so that a namespace can make it fail. */
  readonly isTemplated: boolean;
  readonly render: (namespaceObject: KubeObject, budget: RuleBudget) => Rendered<T>;
}

export interface WrittenTexts extends Pick<WrittenContent, 'path' | 'type' | 'name'> {
  readonly template: ContentTemplate;
}
