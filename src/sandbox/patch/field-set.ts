// Sets of fields in the form that metadata.managedFields has for them, FieldsV1, and what can be done with such sets.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/#System
import { isJsonObject } from '../../base/json.ts';

/** `f:name`, `k:{"type":"Ready"}` for the item of a list, or `v:"x"` for one of a set. */
export type PathElement = string;

/** `{}` is a field of the set with no other under it; one with others has the key `.` as well, if it is in the set. */
export interface FieldsV1 {
  readonly [element: PathElement]: FieldsV1;
}
/** Undefined for the empty set. */
export type FieldSet = FieldsV1 | undefined;

export function isFieldsV1(value: unknown): value is FieldsV1 {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).every(([element, set]) => /^(?:\.$|[fkv]:)/.test(element) && isFieldsV1(set));
}

export function includes(set: FieldSet): boolean {
  return set !== undefined && (set['.'] !== undefined || Object.keys(set).length === 0);
}

/** Of one field and of those under it. */
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

/** `.status.conditions[type="Ready"].status`, as conflicts name fields. */
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
