// Defines columns of `kubectl get` and reads their cells.
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { Path } from '../../base/problem.ts';
import { valueAt } from '../../schema/validate.ts';
import type { Column } from '../resource.ts';

/** `cell` is a path in the syntax of a CustomResourceDefinition, or a function. */
export function column(name: string, cell: string | Column['cell'], rest: Partial<Column> = {}): Column {
  const read = typeof cell === 'string' ? (object: KubeObject) => cellAt(object, cell) : cell;
  return { name, type: 'string', description: name, priority: 0, ...rest, cell: read };
}

/** Supports the part of JSONPath that our columns use: `.status.conditions[?(@.type=="Ready")].status`. */
function cellAt(object: KubeObject, jsonPath: string): ReturnType<Column['cell']> {
  const steps = jsonPath.matchAll(/\.(\w+)(?:\[\?\(@\.(\w+)=="(\w+)"\)\])?/g);
  let value: unknown = object;
  for (const [, name = '', key = '', wanted] of steps) {
    value = ownMember(value, name);
    if (key !== '') value = itemsAt(value).find((item) => ownMember(item, key) === wanted);
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return value === undefined ? '' : JSON.stringify(value);
}

export const age = column('Age', '.metadata.creationTimestamp', { type: 'date' });

/** Counts the members of the fields at these paths. */
export function sizeColumn(name: string, ...paths: readonly string[]): Column {
  return column(
    name,
    (object) => paths.flatMap((path) => keysAt(object, ...path.split('.').slice(1))).length,
  );
}

/** Returns an empty text when the value is not a text. */
export function textAt(object: unknown, ...path: Path): string {
  const value = valueAt(object, path);
  return typeof value === 'string' ? value : '';
}

export function itemsAt(object: unknown, ...path: Path): readonly unknown[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? value : [];
}

export function keysAt(object: unknown, ...path: Path): readonly string[] {
  return Object.keys(valueAt(object, path) ?? {});
}
