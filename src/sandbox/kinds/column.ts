// Columns of `kubectl get`, and how their cells are read.
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Path } from '../../base/problem.ts';
import { valueAt } from '../../api/schema/report.ts';
import type { Column } from '../resource.ts';

/** The cell is what is at a path as definitions of custom kinds have it, or computed. */
export function column(name: string, cell: string | Column['cell'], rest: Partial<Column> = {}): Column {
  const read = typeof cell === 'string' ? (object: KubeObject) => cellAt(object, cell) : cell;
  return { name, type: 'string', description: name, priority: 0, ...rest, cell: read };
}

/** `.status.conditions[?(@.type=="Ready")].status`: as much of JSONPath as our columns have. */
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

/** How many members the fields at these paths have together. */
export function sizeColumn(name: string, ...paths: readonly string[]): Column {
  return column(
    name,
    (object) => paths.flatMap((path) => keysAt(object, ...path.split('.').slice(1))).length,
  );
}

/** Empty where there is no text. */
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
