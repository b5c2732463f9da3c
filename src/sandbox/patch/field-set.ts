// Works with sets of fields in the format of metadata.managedFields, FieldsV1.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/#System
import { isJsonObject } from '../../base/json.ts';

/** `f:name` is a field, `k:{"type":"Ready"}` an item of a list, `v:"x"` an item of a set. */
export type PathElement = string;

/** `{}` is a field without fields below it. A field with others below it is in the set when it has the key `.`. */
export interface FieldsV1 {
  readonly [element: PathElement]: FieldsV1;
}
/** Undefined is the empty set. */
export type FieldSet = FieldsV1 | undefined;

export function isFieldsV1(value: unknown): value is FieldsV1 {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).every(([element, set]) => /^(?:\.$|[fkv]:)/.test(element) && isFieldsV1(set));
}

export function includes(set: FieldSet): boolean {
  return set !== undefined && (set['.'] !== undefined || Object.keys(set).length === 0);
}

/** Builds the set of one field and the fields below it. */
export function fieldSet(
  isIncluded: boolean,
  under: readonly (readonly [PathElement, FieldSet])[],
): FieldSet {
  const entries = under.flatMap(([element, set]) => (set === undefined ? [] : [[element, set] as const]));
  if (entries.length === 0) return isIncluded ? {} : undefined;
  return Object.fromEntries<FieldsV1>(isIncluded ? [['.', {}], ...entries] : entries);
}

export function elementsUnder(set: FieldSet): readonly PathElement[] {
  return Object.keys(set ?? {}).filter((element) => element !== '.');
}

export function union(one: FieldSet, other: FieldSet): FieldSet {
  return combined(one, other, (isInOne, isInOther) => isInOne || isInOther);
}

export function difference(one: FieldSet, other: FieldSet): FieldSet {
  return combined(one, other, (isInOne, isInOther) => isInOne && !isInOther);
}

export function intersection(one: FieldSet, other: FieldSet): FieldSet {
  return difference(one, difference(one, other));
}

type Rule = (isInOne: boolean, isInOther: boolean) => boolean;

function combined(one: FieldSet, other: FieldSet, rule: Rule): FieldSet {
  const elements = new Set([...elementsUnder(one), ...elementsUnder(other)]);
  const under = Array.from(elements, (element) => {
    return [element, combined(one?.[element], other?.[element], rule)] as const;
  });
  return fieldSet(rule(includes(one), includes(other)), under);
}

/** Returns paths as conflicts name them: `.status.conditions[type="Ready"].status`. */
export function shownFields(set: FieldSet, path = ''): readonly string[] {
  const under = elementsUnder(set).flatMap((element) =>
    shownFields(set?.[element], `${path}${shownElement(element)}`),
  );
  return includes(set) ? [path, ...under] : under;
}

function shownElement(element: PathElement): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('v:')) return `[=${text}]`;
  return `[${text.slice(1, -1).replaceAll(/"(\w+)":/g, '$1=')}]`;
}
