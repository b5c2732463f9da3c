// A YAML document as a tree that remembers where each value stands, and the plain data that it means.
import { isJsonObject } from './json.ts';
import type { Path } from './problem.ts';

export interface YamlScalar {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** Offsets in the source: from the first character, quotes included, to behind the last one. */
  readonly start: number;
  readonly end: number;
  readonly style: 'plain' | 'single' | 'double' | 'literal' | 'folded';
}

interface YamlList {
  readonly kind: 'list';
  readonly start: number;
  readonly items: readonly YamlNode[];
}

export interface YamlEntry {
  readonly key: string;
  readonly keyStart: number;
  readonly node: YamlNode;
}

interface YamlMap {
  readonly kind: 'map';
  readonly start: number;
  readonly entries: readonly YamlEntry[];
}

/** An alias is the very node that it stands for, so a small text can be a huge tree: see `plainOf`. */
export type YamlNode = YamlScalar | YamlList | YamlMap;

/** The data that the tree means; undefined when its aliases make it bigger than that many nodes. */
export function plainOf(root: YamlNode, mostNodes: number): { readonly value: unknown } | undefined {
  let left = mostNodes;
  const convert = (node: YamlNode): unknown => {
    left -= 1;
    if (left < 0) return undefined;
    switch (node.kind) {
      case 'scalar':
        return node.value;
      case 'list':
        return node.items.map(convert);
      case 'map':
        // It defines properties instead of assigning them, so a key such as `__proto__` is only a key.
        return Object.fromEntries(node.entries.map((entry) => [entry.key, convert(entry.node)]));
    }
  };
  const value = convert(root);
  return left < 0 ? undefined : { value };
}

export interface Found {
  /** The value, or for a path that leads nowhere, the last one on the way. */
  readonly node: YamlNode;
  /** Where the key stands that leads to that value; undefined for the root and for items of lists. */
  readonly keyStart: number | undefined;
  readonly complete: boolean;
}

export function follow(root: YamlNode, path: Path): Found {
  let found: Found = { node: root, keyStart: undefined, complete: true };
  for (const step of path) {
    const next = child(found.node, step);
    // null counts as absent, so a field below it is missed where the null stands.
    if (next === undefined) return { ...found, complete: false };
    found = next;
  }
  return found;
}

function child(node: YamlNode, step: string | number): Found | undefined {
  if (node.kind === 'list' && typeof step === 'number') {
    const item = node.items[step];
    return item === undefined ? undefined : { node: item, keyStart: undefined, complete: true };
  }
  if (node.kind !== 'map') return undefined;
  const entry = node.entries.find(({ key }) => key === step);
  return entry === undefined ? undefined : { node: entry.node, keyStart: entry.keyStart, complete: true };
}

/** The objects of a document: itself, or what a `List` (as from `kubectl get -o yaml`) holds. */
export function objectsOf(value: unknown): readonly { readonly value: unknown; readonly path: Path }[] {
  if (!isJsonObject(value)) return [{ value, path: [] }];
  const { kind, items } = value;
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items);
  if (!isList) return [{ value, path: [] }];
  return items.map((item: unknown, index) => ({ value: item, path: ['items', index] }));
}
