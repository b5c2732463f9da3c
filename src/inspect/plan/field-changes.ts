// Compares two forms of an object, field by field. Of a Secret only the names of keys are compared.
import { isDeepStrictEqual } from 'node:util';
import { appliedAnnotation } from '../../schema/names.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import type { PlanDifference } from '../output-schemas/plan-output.ts';

const maxValueLength = 1000;

/** Where no value may be shown: everywhere in a Secret but in fields that cannot hold its values. */
type IsHidden = (path: Path) => boolean;

/** `before` and `after` hold only the fields to compare. */
export function changedFields(before: KubeObject, after: KubeObject): readonly PlanDifference[] {
  const isSecret = after.kind === 'Secret';
  const isHidden: IsHidden = ([first, second]) =>
    isSecret && !(first === 'metadata' && second === 'labels') && first !== 'type' && first !== 'immutable';
  return differences([], compared(before), compared(after), isHidden);
}

/** The hash of what was applied says nothing to people. */
function compared({ metadata, ...object }: KubeObject): JsonObject {
  const { apiVersion: _version, kind: _kind, status: _status, ...content } = object;
  const { labels, annotations = {} } = metadata;
  const { [appliedAnnotation]: _hash, ...shown } = annotations;
  return { ...content, metadata: { labels, annotations: shown } };
}

function differences(
  path: Path,
  before: unknown,
  after: unknown,
  isHidden: IsHidden,
): readonly PlanDifference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const [old, next] = [before ?? emptyLike(after), after ?? emptyLike(before)];
  if (isJsonObject(old) && isJsonObject(next) && !isLeaf(old, next)) {
    const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].sort();
    return names.flatMap((name) =>
      differences([...path, name], ownMember(old, name), ownMember(next, name), isHidden),
    );
  }
  if (Array.isArray(old) && Array.isArray(next)) {
    const items = changedItems(path, old, next, isHidden);
    if (items.length > 0) return items;
  }
  return [difference(path, before, after, isHidden)];
}

/** An empty object that appears or disappears has no fields to name. */
function isLeaf(a: JsonObject, b: JsonObject): boolean {
  return Object.keys(a).length === 0 && Object.keys(b).length === 0;
}

function emptyLike(value: unknown): unknown {
  return isJsonObject(value) ? {} : undefined;
}

/** An item that moves is no change of its own. Returns nothing if only the order differs. */
function changedItems(
  path: Path,
  before: readonly unknown[],
  after: readonly unknown[],
  isHidden: IsHidden,
): readonly PlanDifference[] {
  const removed = without(before, after);
  const added = without(after, before);
  const [old, next] = [removed[0], added[0]];
  if (removed.length === 1 && added.length === 1 && old !== undefined && next !== undefined)
    return differences([...path, next.index], old.item, next.item, isHidden);
  return [
    ...removed.map(({ index, item }) => difference([...path, index], item, undefined, isHidden)),
    ...added.map(({ index, item }) => difference([...path, index], undefined, item, isHidden)),
  ];
}

function without(items: readonly unknown[], others: readonly unknown[]) {
  const left = [...others];
  return items.flatMap((item, index) => {
    const found = left.findIndex((each) => isDeepStrictEqual(each, item));
    if (found === -1) return [{ index, item }];
    left.splice(found, 1);
    return [];
  });
}

function difference(path: Path, before: unknown, after: unknown, isHidden: IsHidden): PlanDifference {
  const replaced = after === undefined ? 'removed' : 'changed';
  const change = before === undefined ? 'added' : replaced;
  const named = { path: renderPath(path), change } as const;
  if (isHidden(path)) return named;
  const [old, next] =
    typeof before === 'string' && typeof after === 'string' ? changedLines(before, after) : [before, after];
  return {
    ...named,
    ...(old === undefined ? {} : { before: valueText(old) }),
    ...(next === undefined ? {} : { after: valueText(next) }),
  };
}

/** Shows only the lines between the first and the last change of a text. */
function changedLines(before: string, after: string): readonly [string, string] {
  const [old, next] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter - 1 && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < shorter - 1 - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  return [old.slice(start, old.length - end).join('\n'), next.slice(start, next.length - end).join('\n')];
}

/** JSON is YAML. Plain keys stand without quotes. */
function valueText(value: unknown): string {
  return clipped(flow(value), maxValueLength);
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, each]) => `${keyText(key)}: ${flow(each)}`);
  return `{${members.join(', ')}}`;
}

function keyText(key: string): string {
  return /^[A-Za-z][\w./-]*$/.test(key) ? key : JSON.stringify(key);
}
