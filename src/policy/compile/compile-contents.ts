// Compiles the contents of a policy, and renders them for one namespace.
import {
  isSameObjectType,
  roleBindingType,
  serviceAccountType,
  type ObjectType,
  objectKey,
  type ObjectKey,
} from '../../base/object-type.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import {
  type KubeObject,
  keyText,
  isTerminating,
  keyPath,
  metadataMap,
  nameOf,
  valueOf,
} from '../../base/metadata.ts';
import type {
  ContentsSpec,
  RoleBindingContent,
  ServiceAccountContent,
} from '../../api/namespace-policy/namespace-policy.ts';
import { type Path, allOf, mapped, refused, type CompileResult } from '../../base/problem.ts';
import { clipped, quoted } from '../../base/text.ts';
import { parseDuration } from '../../base/time.ts';
import { type RuleBudget, everyOperation, type RuleViolation } from '../../rules/rule.ts';
import {
  compileValue,
  isTemplated,
  shownText,
  type TextProblem,
  accountChecks,
  resourceChecks,
  roleBindingChecks,
  type TextChecks,
} from './content-template.ts';
import { isDeepStrictEqual } from 'node:util';
import type { MetadataKey } from '../../cel/expression.ts';
import type { CompiledRule } from '../../rules/rules.ts';

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

/** An object that a namespace does not get, because its template gives nothing there. */
interface Unrendered {
  /** The name is as rendered, else as the policy has it. */
  readonly object: { readonly kind: string; readonly name: string };
  /** Why, in a sentence. */
  readonly message: string;
}

export type Rendered<T> =
  | { readonly kind: 'present'; readonly value: T }
  /** The namespace needs no such object. */
  | { readonly kind: 'absent' }
  /** The namespace lacks a label or annotation that the template looks up, so the object is not desired. */
  | ({ readonly kind: 'skipped' } & Unrendered)
  | ({ readonly kind: 'error'; readonly problem: TextProblem } & Unrendered);

/** An object that each matched namespace gets, or fields of one. */
export interface CompiledContent {
  readonly type: ObjectType;
  /** As the policy has it: can be a template. */
  readonly name: string;
  /** True if its texts have expressions, so that a namespace can make it fail. */
  readonly isTemplated: boolean;
  /** True for fields of an object that Reeve does not own. */
  readonly isFields: boolean;
  render(namespaceObject: KubeObject, budget: RuleBudget): Rendered<RenderedContent>;
}

export function compileContents(
  contents: ContentsSpec | undefined,
): CompileResult<readonly CompiledContent[]> {
  const path = ['spec', 'contents'];
  const roleBindings = contents?.roleBindings ?? [];
  const resources = contents?.resources ?? [];
  const accounts = contents?.serviceAccounts ?? [];
  return allOf([
    ...roleBindings.map((binding, index) => compileRoleBinding(binding, [...path, 'roleBindings', index])),
    ...resources.map((resource, index) => compileResource(resource, [...path, 'resources', index])),
    ...accounts.map((account, index) =>
      compileAccount(account, resources, [...path, 'serviceAccounts', index]),
    ),
  ]);
}

/** Only the names of the binding and of its subjects are templates, never the role, the expiry or a kind. */
function compileRoleBinding(binding: RoleBindingContent, path: Path): CompileResult<CompiledContent> {
  const { name, subjects, roleRef } = binding;
  const checks = roleBindingChecks(binding);
  const source = { type: roleBindingType, value: { name, subjects }, name, fixedFields: ['kind'], checks };
  return compileContent(source, path, (value, namespaceObject) => {
    const shownName = String(ownMember(value, 'name'));
    const body = {
      ...roleBindingType,
      metadata: { name: shownName },
      roleRef: { apiGroup: rbacGroup, ...roleRef },
      subjects: subjectsOf(ownMember(value, 'subjects')),
    };
    const expiresAt = expiryOf(binding, namespaceObject);
    return {
      name: shownName,
      form: { kind: 'object', body },
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
  });
}

interface ContentSource {
  readonly type: ObjectType;
  readonly value: unknown;
  readonly name: string;
  readonly fixedFields: readonly string[];
  readonly checks: TextChecks;
  readonly isFields?: boolean;
}

/** For an object, besides its texts: to build it, and to compare it with others. */
const contentUnits = 10;

function compileContent(
  { type, value, name, fixedFields, checks, isFields = false }: ContentSource,
  path: Path,
  contentOf: (value: unknown, namespaceObject: KubeObject) => RenderedContent,
): CompileResult<CompiledContent> {
  const shownName = shownText(name);
  return mapped(compileValue(value, path, fixedFields, checks), (render) => ({
    type,
    name,
    isTemplated: isTemplated(value),
    isFields,
    render(namespaceObject, budget) {
      budget.spend(contentUnits);
      const rendered = render(namespaceObject, budget);
      if (rendered.kind === 'present')
        return { kind: 'present', value: contentOf(rendered.value, namespaceObject) };
      const object = { kind: type.kind, name: clipped(shownName(namespaceObject)) };
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

const rbacGroup = 'rbac.authorization.k8s.io';

/** Adds the group that the API server defaults, so that desired and stored subjects can be compared. */
function subjectsOf(subjects: unknown): readonly unknown[] {
  return Array.isArray(subjects)
    ? subjects.map((subject: unknown) =>
        ownMember(subject, 'kind') === 'ServiceAccount' || !isJsonObject(subject)
          ? subject
          : { apiGroup: rbacGroup, ...subject },
      )
    : [];
}

function expiryOf(
  { expiresAfter, expiresAt }: RoleBindingContent,
  { metadata }: KubeObject,
): number | undefined {
  if (expiresAt !== undefined) return Date.parse(expiresAt);
  const lifetime = expiresAfter === undefined ? undefined : parseDuration(expiresAfter);
  const { creationTimestamp } = metadata;
  if (lifetime === undefined || typeof creationTimestamp !== 'string') return undefined;
  return Date.parse(creationTimestamp) + lifetime;
}

type ResourceContent = NonNullable<ContentsSpec['resources']>[number];

function compileResource(resource: ResourceContent, path: Path): CompileResult<CompiledContent> {
  const { apiVersion, kind, metadata } = resource;
  const source = {
    type: { apiVersion, kind },
    value: resource,
    name: metadata.name,
    fixedFields: ['apiVersion', 'kind'],
    checks: resourceChecks(apiVersion),
  };
  return compileContent(source, path, (value) => {
    const body = isJsonObject(value) ? value : {};
    const name = String(ownMember(ownMember(body, 'metadata'), 'name'));
    return { name, form: { kind: 'object', body } };
  });
}

/** Only names are templates. */
function compileAccount(
  { name, imagePullSecrets = [], automountServiceAccountToken: automount }: ServiceAccountContent,
  resources: readonly ResourceContent[],
  path: Path,
): CompileResult<CompiledContent> {
  const isWhole = resources.some(
    (each) => isSameObjectType(each, serviceAccountType) && each.metadata.name === name,
  );
  if (isWhole) {
    const found = `ServiceAccount ${clipped(name)}, which contents.resources provides as a whole`;
    return refused([{ path: [...path, 'name'], found, accepted: 'the fields in contents.resources' }]);
  }
  const value = { name, imagePullSecrets };
  const source = {
    type: serviceAccountType,
    value,
    name,
    fixedFields: [],
    checks: accountChecks,
    isFields: true,
  };
  return compileContent(source, path, (rendered) => {
    const names = ownMember(rendered, 'imagePullSecrets');
    const pullSecrets = Array.isArray(names) ? [...new Set(names.map(String))] : [];
    return {
      name: String(ownMember(rendered, 'name')),
      form: { kind: 'fields', fields: { pullSecrets, automount } },
    };
  });
}

// contents: a written Namespace must not make a content fail, so that its owner hears of it at once.

/** Contents without a template need no rule: no namespace can make them fail. */
export function contentsRules(contents: readonly CompiledContent[]): readonly CompiledRule[] {
  if (!contents.some((content) => content.isTemplated)) return [];
  return [
    {
      shape: 'state',
      id: 'contents',
      graced: true,
      traits: { operations: everyOperation, isFulfilled: true, isShownByObjects: true },
      compared: () => [],
      judge(namespaceObject, { budget }) {
        if (!getsContents(namespaceObject)) return [];
        const rendered = contents.map((content) => content.render(namespaceObject, budget));
        return [
          ...rendered.flatMap((each, index) =>
            each.kind === 'error' ? [violationOf(each, index, namespaceObject)] : [],
          ),
          ...clashes(contents, rendered),
        ];
      },
    },
  ];
}

/** Templates can give two contents one name. Only one object of a kind can have it. */
function clashes(
  contents: readonly CompiledContent[],
  rendered: readonly Rendered<RenderedContent>[],
): readonly RuleViolation[] {
  const known = new Map<ObjectKey, RenderedContent>();
  return contents.flatMap(({ type }, index) => {
    const content = rendered[index];
    if (content?.kind !== 'present') return [];
    const { value } = content;
    const key = objectKey(type, value.name);
    const other = known.get(key);
    if (other === undefined) known.set(key, value);
    return other === undefined || isDeepStrictEqual(other, value) ? [] : [clash(type.kind, value.name)];
  });
}

function clash(kind: string, name: string): RuleViolation {
  const object = `${kind} ${clipped(name)}`;
  return {
    path: 'metadata',
    found: `labels and annotations that give two different contents the name ${object}`,
    accepted: 'labels and annotations that give each content a name of its own',
    message: `two contents of the policy give a different ${object} here`,
    identity: `clash ${object}`,
    isConsequence: true,
  };
}

/** The name is empty while the API server has not made it from `generateName`. */
function getsContents(namespaceObject: KubeObject): boolean {
  return nameOf(namespaceObject) !== '' && !isTerminating(namespaceObject);
}

/** A Namespace that fails in the same way with the same values has the same violation. */
function violationOf(
  { object, problem }: Rendered<never> & { kind: 'error' },
  index: number,
  namespaceObject: KubeObject,
): RuleViolation {
  const { field, verb, found, accepted, lookups } = problem;
  const values = lookups.flatMap((lookup) => valueIn(namespaceObject, lookup));
  const [first] = values;
  const causes = values.map(({ field: of, key, value }) => `${keyText(of, key)}=${quoted(value)}`);
  const content = `${object.kind} ${object.name}`;
  const effect =
    causes.length === 0 ? `${content} fails` : `${[...new Set(causes)].join(' and ')} makes ${content} fail`;
  return {
    path: first === undefined ? 'metadata' : keyPath(first.field, first.key),
    found,
    accepted,
    message: `${effect}: ${field} ${verb} ${found}; accepted: ${accepted}`,
    identity: JSON.stringify([index, field, found, values]),
    isConsequence: true,
  };
}

interface MetadataValue extends MetadataKey {
  readonly value: string;
}

function valueIn(namespaceObject: KubeObject, { field, key }: MetadataKey): readonly MetadataValue[] {
  const value = valueOf(metadataMap(namespaceObject, field), key);
  return value === undefined ? [] : [{ field, key, value }];
}
