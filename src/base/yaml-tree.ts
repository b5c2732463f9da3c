// A YAML document as a tree that knows the position of each value, and its conversion to plain data.
import { isJsonObject } from './json.ts';
import type { Path } from './problem.ts';
import { clipped } from './text.ts';

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

interface Found {
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

// Reads unquoted words, numbers and merge keys as kubectl does, where kubectl differs from YAML 1.2. kubectl converts files to
// JSON before it sends them: https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go

const yes = /^(?:y|Y|yes|Yes|YES|on|On|ON|true|True|TRUE)$/;
const no = /^(?:n|N|no|No|NO|off|Off|OFF|false|False|FALSE)$/;
const integer = /^[-+]?(?:0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/;
const decimal = /^[-+]?(?:\.\d+|\d+\.?\d*)(?:[eE][-+]?\d+)?$/;

/** Returns the text itself if it is a text for kubectl. https://github.com/yaml/go-yaml/blob/v2.4.2/resolve.go */
export function readByKubectl(plain: string): boolean | number | string {
  if (yes.test(plain)) return true;
  if (no.test(plain)) return false;
  if (!/^[-+.\d]/.test(plain)) return plain;
  const digits = plain.startsWith('._') ? plain : plain.replaceAll('_', '');
  if (integer.test(digits)) {
    const sign = digits.startsWith('-') ? -1 : 1;
    // A leading 0 alone means octal, which JavaScript writes as 0o.
    return sign * Number(digits.replace(/^[-+]/, '').replace(/^0(?=[0-7])/, '0o'));
  }
  return decimal.test(digits) ? Number(digits) : plain;
}

/** Returns the problem if kubectl reads another value here. Never quotes the value: it may be part of a Secret. */
export function misreadValue(plain: string, value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const read = readByKubectl(plain);
  if (read === value) return undefined;
  if (typeof read === 'string')
    return 'kubectl refuses this value, because JSON has no such number; quote it';
  if (typeof read === 'boolean') return misread('this value as a boolean', 'true or false');
  return misread(`this value as ${typeof value === 'number' ? 'another' : 'a'} number`, 'a decimal number');
}

/** Returns the problem if kubectl reads another key here. */
export function misreadKey(plain: string): string | undefined {
  // A number can have more digits than JavaScript can hold.
  if (/^[1-9]\d*$/.test(plain)) return undefined;
  const read = String(readByKubectl(plain));
  const shown = JSON.stringify(clipped(read));
  return read === plain ? undefined : misread(`the key ${JSON.stringify(clipped(plain))} as ${shown}`, shown);
}

function misread(what: string, instead: string): string {
  return `kubectl reads ${what}, because it is not quoted (YAML 1.1); quote it, or write ${instead}`;
}

export const mergeKey = '<<';

/** For the YAML library, which otherwise quotes merge keys that it writes, and makes them common keys. */
export const mergeTag = {
  tag: 'tag:yaml.org,2002:merge',
  default: true,
  identify: (value: unknown) => typeof value === 'symbol',
  resolve: (text: string) => text,
  stringify: () => mergeKey,
};

/** Returns the entries that a merge key `<<` adds, the winning ones last. Undefined if it has a value of another kind. */
export function mergedEntries(node: YamlNode): readonly YamlEntry[] | undefined {
  if (node.kind === 'map') return node.entries;
  if (node.kind !== 'list') return undefined;
  const maps = node.items.map((item) => (item.kind === 'map' ? item.entries : undefined));
  const known = maps.filter((entries) => entries !== undefined);
  return known.length < maps.length ? undefined : known.toReversed().flat();
}
