// Reads and writes YAML: the only file that knows the library, whose errors become data in our words here.
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
  /** Both count from 1. */
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

/** Deeper than anything people write, and far from the end of the stack. */
const deepest = 100;
const mostProblems = 20;
/** Beside one node for each character, which is more than a text without aliases can have. */
const spareNodes = 1000;

/** One text, all its documents: a broken one says why and leaves the others alone. JSON is YAML. */
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
      // The library compares every key with every other one; the walk below does it with a set.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
      lineCounter: lines,
    });
    const documents = [...parsed].map((document) => readDocument(document, text.length, positionAt));
    return { documents, positionAt };
  } catch {
    // The library reports errors as data; should it throw all the same, its text stays here.
    const problems = [{ line: 1, column: 1, message: 'this is not YAML' }];
    return { documents: [{ kind: 'broken', problems }], positionAt };
  }
}

/** Long lines stay whole, equal values are written out each time, and older readers see the same values. */
export function stringifyYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}

function readDocument(
  document: Document.Parsed,
  length: number,
  positionAt: (offset: number) => Position,
): YamlDocument {
  // What follows the first error is mostly its echo.
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined) return broken([faultOf(first)], positionAt);
  if (document.contents === null || isEmpty(document.contents)) return { kind: 'empty' };
  const faults: Fault[] = [];
  const root = new TreeReader(faults).read(document.contents, 0);
  if (faults.length > 0 || root === undefined) return broken(faults, positionAt);
  const plain = plainOf(root, length + spareNodes);
  if (plain === undefined) {
    return broken([{ offset: root.start, message: 'its aliases make it too big' }], positionAt);
  }
  return { kind: 'data', value: plain.value, root };
}

function isEmpty(contents: unknown): boolean {
  return isScalar(contents) && contents.value === null;
}

interface Fault {
  readonly offset: number;
  readonly message: string;
}

function broken(faults: readonly Fault[], positionAt: (offset: number) => Position): YamlDocument {
  const problems = faults.slice(0, mostProblems).map(({ offset, message }) => ({
    ...positionAt(offset),
    message: `this is not YAML as we read it: ${message}`,
  }));
  return { kind: 'broken', problems };
}

/** Turns the library's tree into ours, and notes what we do not take. */
class TreeReader {
  readonly #faults: Fault[];
  readonly #anchors = new Map<string, YamlNode>();

  constructor(faults: Fault[]) {
    this.#faults = faults;
  }

  read(node: unknown, depth: number): YamlNode | undefined {
    const start = startOf(node);
    if (depth > deepest) return this.#fault(start, `nesting deeper than ${deepest} levels`);
    if (isAlias(node)) {
      return this.#anchors.get(node.source) ?? this.#fault(start, 'an alias whose anchor is not above it');
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
        if (!isScalar(pair.key)) return this.#fault(keyStart, 'a key that is not plain text');
        const key = typeof pair.key.value === 'string' ? pair.key.value : '';
        if (seen.has(key))
          this.#fault(keyStart, `the key ${JSON.stringify(clipped(key))} stands here a second time`);
        seen.add(key);
        const node = this.read(pair.value ?? pair.key.range?.[1], depth + 1);
        return node === undefined ? undefined : { key, keyStart, node };
      }),
    );
  }

  #fault(offset: number, message: string): undefined {
    this.#faults.push({ offset, message });
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

/** A missing value is passed as the offset where it should stand. */
function startOf(node: unknown): number {
  if (typeof node === 'number') return node;
  if (isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)) return node.range?.[0] ?? 0;
  return 0;
}

function present<T>(values: readonly (T | undefined)[]): readonly T[] {
  return values.filter((value) => value !== undefined);
}

function faultOf(error: YAMLError): Fault {
  return { offset: error.pos[0], message: wordsFor[error.code] };
}

const misplacedAlias = 'an alias or anchor that cannot be';
const misplaced = 'what stands here cannot stand beside what is around it';
const oddKey = 'a key that is not one line of plain text';
const oddTag = 'a tag (a word that begins with !), or a value that its tag does not take';
const unexpected = 'something that does not belong here';

const wordsFor: Readonly<Record<YAMLError['code'], string>> = {
  ALIAS_PROPS: misplacedAlias,
  BAD_ALIAS: misplacedAlias,
  MULTIPLE_ANCHORS: misplacedAlias,
  BAD_DIRECTIVE: 'a directive that is not known',
  BAD_DQ_ESCAPE: 'an unknown escape in a text in double quotes',
  BAD_INDENT: 'the indentation does not fit, or a bracket above is not closed',
  BAD_PROP_ORDER: misplaced,
  BLOCK_AS_IMPLICIT_KEY: misplaced,
  BLOCK_IN_FLOW: misplaced,
  BAD_COLLECTION_TYPE: misplaced,
  BAD_SCALAR_START: 'a text that begins so must stand in quotes',
  DUPLICATE_KEY: 'a key stands here a second time',
  KEY_OVER_1024_CHARS: oddKey,
  MULTILINE_IMPLICIT_KEY: oddKey,
  NON_STRING_KEY: oddKey,
  MISSING_CHAR: 'a bracket, quote, comma or colon is missing',
  MULTIPLE_TAGS: oddTag,
  TAG_RESOLVE_FAILED: oddTag,
  RESOURCE_EXHAUSTION: 'nesting deeper than we read',
  TAB_AS_INDENT: 'a tab where spaces must indent',
  IMPOSSIBLE: unexpected,
  MULTIPLE_DOCS: unexpected,
  UNEXPECTED_TOKEN: unexpected,
};
