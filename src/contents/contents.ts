// Lists the kinds of content, in the order of the CRD, of the reference and of messages, and compiles the contents of a policy.
// A new kind of content is one file, and one line here.
import { isDeepStrictEqual } from 'node:util';
import { ownMember, textAt } from '../base/json.ts';
import {
  isTerminating,
  keyPath,
  keyText,
  metadataMap,
  nameOf,
  valueOf,
  type KubeObject,
} from '../base/metadata.ts';
import { isSameObjectType, objectKey, type ObjectKey, type ObjectType } from '../base/object-type.ts';
import { allOf, refused, type CompileResult } from '../base/problem.ts';
import { clipped, quoted } from '../base/text.ts';
import type { Definitions, MetadataKey } from '../cel/expression.ts';
import { everyOperation, type RuleViolation } from '../rules/rule.ts';
import type { CompiledRule } from '../rules/rules.ts';
import type { Fields } from '../schema/schema.ts';
import { compileContent } from './compile-content.ts';
import {
  isExceptedAt,
  type CompiledContent,
  type ContentKind,
  type Rendered,
  type RenderedContent,
  type WrittenContent,
} from './content.ts';
import { resources } from './resources.ts';
import { roleBindings } from './role-bindings.ts';
import { serviceAccounts } from './service-accounts.ts';

export const contentKinds = [
  roleBindings,
  resources,
  serviceAccounts,
] as const satisfies readonly ContentKind[];

type FieldsOf<L extends readonly ContentKind[]> = {
  readonly [K in L[number] as K['name']]: K['field'];
};

/** Returns the fields of `spec.contents`. */
export function contentFields<const L extends readonly ContentKind[]>(list: L): FieldsOf<L>;
export function contentFields(list: readonly ContentKind[]): Fields {
  return Object.fromEntries(list.map(({ name, field }) => [name, field]));
}

/** The types that every installation allows, because a kind of content is about their objects alone. */
export const ownTypes: readonly ObjectType[] = contentKinds.flatMap(({ ownership, type }) =>
  ownership === 'object' && type !== undefined ? [type] : [],
);

/** Returns the contents of a checked spec, in the order of the list. */
function writtenContents(spec: object | undefined, list: readonly ContentKind[]): readonly WrittenContent[] {
  return list.flatMap((contentKind) => {
    const values = ownMember(spec, contentKind.name);
    return Array.isArray(values)
      ? values.map((value: unknown, index) => ({
          contentKind,
          value,
          path: ['spec', 'contents', contentKind.name, index],
          type: contentKind.type ?? typeIn(value),
          name: textAt(value, contentKind.namePath),
        }))
      : [];
  });
}

function typeIn(value: unknown): ObjectType {
  return { apiVersion: String(ownMember(value, 'apiVersion')), kind: String(ownMember(value, 'kind')) };
}

/** The spec has been checked with the fields of the listed kinds. */
export function compileContents(
  spec: object | undefined,
  definitions: Definitions,
  list: readonly ContentKind[] = contentKinds,
): CompileResult<readonly CompiledContent[]> {
  const written = writtenContents(spec, list);
  return allOf(written.map((each) => refusedFields(each, written) ?? compileContent(each, definitions)));
}

/** Refuses fields of an object that the policy provides as a whole. */
function refusedFields(
  { contentKind, type, name, path }: WrittenContent,
  all: readonly WrittenContent[],
): CompileResult<CompiledContent> | undefined {
  if (contentKind.ownership !== 'fields') return undefined;
  const whole = all.find(
    (each) =>
      each.contentKind.ownership === 'object' && isSameObjectType(each.type, type) && each.name === name,
  );
  if (whole === undefined) return undefined;
  const list = `contents.${whole.contentKind.name}`;
  const found = `${type.kind} ${clipped(name)}, which ${list} provides as a whole`;
  return refused([{ path: [...path, ...contentKind.namePath], found, accepted: `the fields in ${list}` }]);
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
      judge(namespaceObject, { budget, now }) {
        if (!getsContents(namespaceObject)) return [];
        const rendered = contents.map((content) =>
          content.render(namespaceObject, budget).filter((each) => !isExceptedAt(each, now)),
        );
        return [
          ...rendered.flatMap((all, index) =>
            all.flatMap((each) => (each.kind === 'error' ? [violationOf(each, index, namespaceObject)] : [])),
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
  rendered: readonly (readonly Rendered<RenderedContent>[])[],
): readonly RuleViolation[] {
  const known = new Map<ObjectKey, RenderedContent>();
  return contents.flatMap(({ type }, index) =>
    (rendered[index] ?? []).flatMap((content) => {
      if (content.kind !== 'present') return [];
      const { value } = content;
      const key = objectKey(type, value.name);
      const other = known.get(key);
      if (other === undefined) known.set(key, value);
      return other === undefined || isDeepStrictEqual(other, value) ? [] : [clash(type.kind, value.name)];
    }),
  );
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
  const content = `${object.type.kind} ${object.name}`;
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
