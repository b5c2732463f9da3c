// Reads and writes YAML. Only this file knows the library; it turns the library's errors into data in our words.
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  stringify,
  type Document,
  type Pair,
  type Scalar,
  type YAMLError,
} from 'yaml';
import { clipped } from './text.ts';
import { plainOf, type YamlEntry, type YamlNode, type YamlScalar } from './yaml-tree.ts';

interface Position {
  /** Line and column count from 1. */
  readonly line: number;
  readonly column: number;
}

interface YamlProblem extends Position {
  readonly message: string;
}

export type YamlDocument =
  | { readonly kind: 'empty' }
  | { readonly kind: 'data'; readonly value: unknown; readonly root: YamlNode }
  | { readonly kind: 'broken'; readonly problems: readonly YamlProblem[] };

export interface YamlText {
  readonly documents: readonly YamlDocument[];
  positionAt(offset: number): Position;
}

/** Deeper than anything people write, and far from overflowing the stack. */
const maxDepth = 100;
const maxProblems = 20;
/** Added to one node for each character, which is more than a text without aliases can have. */
const spareNodes = 1000;

/** Reads all documents of a text. A broken document has problems and does not affect the others. JSON is YAML. */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  try {
    const parsed = parseAllDocuments(text, {
      version: '1.2',
      schema: 'core',
      strict: true,
      stringKeys: true,
      resolveKnownTags: false,
      // The library compares every key with every other; TreeReader uses a set instead.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
      lineCounter: lines,
    });
    const documents = [...parsed].map((document) => readDocument(document, text.length, positionAt));
    return { documents, positionAt };
  } catch {
    // The library reports errors as data. If it throws nevertheless, its message must not go further.
    const problems = [{ line: 1, column: 1, message: 'invalid YAML' }];
    return { documents: [{ kind: 'broken', problems }], positionAt };
  }
}

/** Writes long lines whole, without anchors, and quotes what YAML 1.1 would read differently. */
export function stringifyYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}

function readDocument(
  document: Document.Parsed,
  length: number,
  positionAt: (offset: number) => Position,
): YamlDocument {
  // Later errors are mostly consequences of the first.
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined) return broken([problemOf(first)], positionAt);
  if (document.contents === null || isEmpty(document.contents)) return { kind: 'empty' };
  const found: PlacedProblem[] = [];
  const root = new TreeReader(found).read(document.contents, 0);
  if (found.length > 0 || root === undefined) return broken(found, positionAt);
  const plain = plainOf(root, length + spareNodes);
  if (plain === undefined) {
    return broken([{ offset: root.start, message: 'aliases that expand to too much data' }], positionAt);
  }
  return { kind: 'data', value: plain.value, root };
}

function isEmpty(contents: unknown): boolean {
  return isScalar(contents) && contents.value === null;
}

interface PlacedProblem {
  readonly offset: number;
  readonly message: string;
}

function broken(found: readonly PlacedProblem[], positionAt: (offset: number) => Position): YamlDocument {
  const problems = found.slice(0, maxProblems).map(({ offset, message }) => ({
    ...positionAt(offset),
    message: `invalid YAML: ${message}`,
  }));
  return { kind: 'broken', problems };
}

/** Turns the library's tree into ours, and collects problems with what we do not support. */
class TreeReader {
  readonly #problems: PlacedProblem[];
  readonly #anchors = new Map<string, YamlNode>();

  constructor(found: PlacedProblem[]) {
    this.#problems = found;
  }

  read(node: unknown, depth: number): YamlNode | undefined {
    const start = startOf(node);
    if (depth > maxDepth) return this.#add(start, `nesting deeper than ${maxDepth} levels`);
    if (isAlias(node)) {
      return this.#anchors.get(node.source) ?? this.#add(start, 'an alias without an anchor before it');
    }
    const result = this.#readValue(node, start, depth);
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor !== undefined && result !== undefined) this.#anchors.set(anchor, result);
    return result;
  }

  #readValue(node: unknown, start: number, depth: number): YamlNode | undefined {
    if (isScalar(node)) return readScalar(node, start);
    if (isSeq(node)) {
      return { kind: 'list', start, items: present(node.items.map((item) => this.read(item, depth + 1))) };
    }
    if (isMap(node)) return { kind: 'map', start, entries: this.#readEntries(node.items, depth) };
    return { kind: 'scalar', value: null, start, end: start, style: 'plain' };
  }

  #readEntries(pairs: readonly Pair[], depth: number): readonly YamlEntry[] {
    const seen = new Set<string>();
    return present(
      pairs.map((pair) => {
        const keyStart = startOf(pair.key);
        if (!isScalar(pair.key)) return this.#add(keyStart, 'a key that is not plain text');
        const key = typeof pair.key.value === 'string' ? pair.key.value : '';
        if (seen.has(key)) this.#add(keyStart, `the key ${JSON.stringify(clipped(key))} is repeated`);
        seen.add(key);
        const node = this.read(pair.value ?? pair.key.range?.[1], depth + 1);
        return node === undefined ? undefined : { key, keyStart, node };
      }),
    );
  }

  #add(offset: number, message: string): undefined {
    this.#problems.push({ offset, message });
  }
}

function readScalar(node: Scalar, start: number): YamlScalar {
  return { kind: 'scalar', value: node.value, start, end: node.range?.[1] ?? start, style: styleOf(node) };
}

function styleOf(node: Scalar): YamlScalar['style'] {
  switch (node.type) {
    case 'QUOTE_SINGLE':
      return 'single';
    case 'QUOTE_DOUBLE':
      return 'double';
    case 'BLOCK_LITERAL':
      return 'literal';
    case 'BLOCK_FOLDED':
      return 'folded';
    default:
      return 'plain';
  }
}

/** For a missing value, `node` is the offset where it should be. */
function startOf(node: unknown): number {
  if (typeof node === 'number') return node;
  if (isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)) return node.range?.[0] ?? 0;
  return 0;
}

function present<T>(values: readonly (T | undefined)[]): readonly T[] {
  return values.filter((value) => value !== undefined);
}

function problemOf(error: YAMLError): PlacedProblem {
  return { offset: error.pos[0], message: wordsFor[error.code] };
}

const misplacedAlias = 'a misplaced alias or anchor';
const misplaced = 'a value that does not fit the values around it';
const oddKey = 'a key that is not one line of plain text';
const oddTag = 'an unsupported tag (a word that begins with !), or a value that its tag does not allow';
const unexpected = 'unexpected text';

const wordsFor: Readonly<Record<YAMLError['code'], string>> = {
  ALIAS_PROPS: misplacedAlias,
  BAD_ALIAS: misplacedAlias,
  MULTIPLE_ANCHORS: misplacedAlias,
  BAD_DIRECTIVE: 'an unknown directive',
  BAD_DQ_ESCAPE: 'an unknown escape in double quotes',
  BAD_INDENT: 'wrong indentation, or a bracket above is not closed',
  BAD_PROP_ORDER: misplaced,
  BLOCK_AS_IMPLICIT_KEY: misplaced,
  BLOCK_IN_FLOW: misplaced,
  BAD_COLLECTION_TYPE: misplaced,
  BAD_SCALAR_START: 'a text that needs quotes because of its first character',
  DUPLICATE_KEY: 'a repeated key',
  KEY_OVER_1024_CHARS: oddKey,
  MULTILINE_IMPLICIT_KEY: oddKey,
  NON_STRING_KEY: oddKey,
  MISSING_CHAR: 'a bracket, quote, comma or colon is missing',
  MULTIPLE_TAGS: oddTag,
  TAG_RESOLVE_FAILED: oddTag,
  RESOURCE_EXHAUSTION: 'nesting too deep',
  TAB_AS_INDENT: 'indentation with a tab instead of spaces',
  IMPOSSIBLE: unexpected,
  MULTIPLE_DOCS: unexpected,
  UNEXPECTED_TOKEN: unexpected,
};
