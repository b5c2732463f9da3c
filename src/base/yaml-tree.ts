// A YAML document as a tree that knows the position of each value, and its conversion to plain data.
import { isJsonObject } from './json.ts';
import type { Path } from './problem.ts';

export interface YamlScalar {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** Offsets in the source: of the first character, quotes included, and after the last one. */
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

/** An alias is the same node as its anchor, so a small text can be a huge tree: see `plainOf`. */
export type YamlNode = YamlScalar | YamlList | YamlMap;

/** Returns the plain data of the tree; undefined when its aliases make it bigger than `maxNodes`. */
export function plainOf(root: YamlNode, maxNodes: number): { readonly value: unknown } | undefined {
  let left = maxNodes;
  const convert = (node: YamlNode): unknown => {
    left -= 1;
    if (left < 0) return undefined;
    switch (node.kind) {
      case 'scalar':
        return node.value;
      case 'list':
        return node.items.map(convert);
      case 'map':
        // Object.fromEntries defines properties instead of assigning them, so `__proto__` stays a plain key.
        return Object.fromEntries(node.entries.map((entry) => [entry.key, convert(entry.node)]));
    }
  };
  const value = convert(root);
  return left < 0 ? undefined : { value };
}

export interface Found {
  /** The value; for a path that does not exist, the last value on the way. */
  readonly node: YamlNode;
  /** The offset of the key of that value; undefined for the root and for items of lists. */
  readonly keyStart: number | undefined;
  readonly complete: boolean;
}

export function follow(root: YamlNode, path: Path): Found {
  let found: Found = { node: root, keyStart: undefined, complete: true };
  for (const step of path) {
    const next = child(found.node, step);
    // null counts as missing, so a field below it is reported at the position of the null.
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

/** Returns the objects of a document: itself, or the items of a `List` as `kubectl get -o yaml` prints it. */
export function objectsOf(value: unknown): readonly { readonly value: unknown; readonly path: Path }[] {
  if (!isJsonObject(value)) return [{ value, path: [] }];
  const { kind, items } = value;
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items);
  if (!isList) return [{ value, path: [] }];
  return items.map((item: unknown, index) => ({ value: item, path: ['items', index] }));
}

/**
 * Finds a character of a scalar's value in the source, through quotes, escapes and the indentation of a block.
 * Undefined where the source folds lines, because then value and source do not match line by line.
 */
export function sourceOffset(source: string, scalar: YamlScalar, offset: number): number | undefined {
  const raw = source.slice(scalar.start, scalar.end);
  const within = offsetWithin(raw, scalar.style, offset);
  return within === undefined ? undefined : scalar.start + within;
}

function offsetWithin(raw: string, style: YamlScalar['style'], offset: number): number | undefined {
  if (style === 'literal') return literalOffset(raw, offset);
  if (/[\r\n]/.test(raw)) return undefined;
  switch (style) {
    case 'plain':
      return offset;
    case 'single':
      return quotedOffset(raw, offset, /''|[^]/y);
    case 'double':
      return quotedOffset(raw, offset, /\\(?:x.{2}|u.{4}|U.{8}|.)|[^]/y);
    case 'folded':
      return undefined;
  }
}

/** Walks from the opening quote. Each match of `spelling` in the source is one character of the value. */
function quotedOffset(raw: string, offset: number, spelling: RegExp): number {
  let at = 1;
  for (let passed = 0; passed < offset && at < raw.length - 1; passed += 1) {
    spelling.lastIndex = at;
    at += spelling.exec(raw)?.[0].length ?? 1;
  }
  return at;
}

/** In a literal block each line of the value is one line of the source, with the same indentation. */
function literalOffset(raw: string, offset: number): number | undefined {
  const header = /^\|[-+]?[ \t]*(?:#[^\n]*)?\r?\n/.exec(raw);
  if (header === null) return undefined;
  const lines = raw.slice(header[0].length).split('\n');
  const indentation = /^ */.exec(lines.find((line) => line.trim() !== '') ?? '')?.[0].length ?? 0;
  let at = header[0].length;
  let left = offset;
  for (const line of lines) {
    const shown = Math.max(0, line.replace(/\r$/, '').length - indentation);
    if (left <= shown) return at + Math.min(indentation, line.length) + left;
    left -= shown + 1;
    at += line.length + 1;
  }
  return undefined;
}
