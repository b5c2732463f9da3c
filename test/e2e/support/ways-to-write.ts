// The ways in which people change an object with kubectl: every type of patch, apply, and replace.
import type { Command } from './attempt.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

type Path = readonly string[];

export interface Way {
  readonly way: string;
  /** Returns a command that sets an existing field. `kubectl apply` must have created the object. */
  readonly write: (object: Manifest, path: Path, value: unknown) => Command;
}

export const waysToWrite: readonly Way[] = [
  {
    way: 'json-patch',
    write: (object, path, value) => patch(object, 'json', [{ op: 'replace', path: pointer(path), value }]),
  },
  { way: 'merge-patch', write: (object, path, value) => patch(object, 'merge', nested(path, value)) },
  { way: 'strategic-patch', write: (object, path, value) => patch(object, 'strategic', nested(path, value)) },
  { way: 'apply', write: (object, path, value) => file(['apply'], replaced(object, path, value)) },
  {
    way: 'server-side-apply',
    write: (object, path, value) =>
      file(
        ['apply', '--server-side', '--force-conflicts', '--field-manager=somebody'],
        replaced(object, path, value),
      ),
  },
  { way: 'replace', write: (object, path, value) => file(['replace'], replaced(object, path, value)) },
];

export function patch(object: Manifest, type: string, body: unknown, ...flags: readonly string[]): Command {
  const { name, namespace } = object.metadata;
  const where = namespace === undefined ? [] : ['-n', namespace];
  const args = ['patch', object.kind, name, ...where, `--type=${type}`, '-p', JSON.stringify(body), ...flags];
  return { args };
}

export function file(args: readonly string[], content: unknown): Command {
  return { args: [...args, '-f', '-'], input: JSON.stringify(content) };
}

function pointer(path: Path): string {
  return path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function nested([key, ...rest]: Path, value: unknown): unknown {
  return key === undefined ? value : { [key]: nested(rest, value) };
}

function replaced(object: object, [key = '', ...rest]: Path, value: unknown): unknown {
  const below: unknown = new Map(Object.entries(object)).get(key);
  const child = rest.length === 0 ? value : replaced(isObject(below) ? below : {}, rest, value);
  return { ...object, [key]: child };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
