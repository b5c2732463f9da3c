// Reads and writes YAML. Only this file knows the library; it turns the library's errors into data in our words.
import {
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type Pair,
  type Scalar,
} from 'yaml';
import {
  mergedEntries,
  mergeKey,
  mergeTag,
  misreadKey,
  misreadValue,
  readByKubectl,
  plainOf,
  type YamlEntry,
  type YamlNode,
  type YamlScalar,
} from './yaml-tree.ts';
import { clipped, escapedInQuotes, isSteering } from './text.ts';

interface Position {
  /** Line and column count from 1. */
  readonly line: number;
  readonly column: number;
}

interface YamlProblem extends Position {
  readonly message: string;
}

type YamlDocument =
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'data';
      readonly value: unknown;
      readonly root: YamlNode;
      /** Values that kubectl reads differently, because they are not quoted. */
      readonly misread: readonly YamlProblem[];
    }
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

/** Returns the documents of the library, which keep comments and the order of keys. */
export function editableDocuments(text: string) {
  return [...parseAllDocuments(text, { stringKeys: true, logLevel: 'silent' })];
}

/** Writes long lines whole, without anchors, and quotes what YAML 1.1 or kubectl would read differently, or a terminal obeys. */
export function stringifyYaml(value: unknown, style: { flowCollectionPadding?: boolean } = {}): string {
  const options = { aliasDuplicateObjects: false, compat: 'yaml-1.1' as const, customTags: [mergeTag] };
  const document = new Document(value, options);
  visit(document, {
    Scalar: (key, node) => {
      if (key === 'key' && node.value === mergeKey && node.type === 'PLAIN') node.value = Symbol(mergeKey);
      else if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  // The anchor of an alias can stand outside of the value.
  const oneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };
  return escapedInQuotes(document.toString({ ...oneLine, verifyAliasOrder: false, ...style }));
}

function needsQuotes(text: string): boolean {
  return readByKubectl(text) !== text || isSteering(text);
}

function readDocument(
  document: Document.Parsed,
  length: number,
  positionAt: (offset: number) => Position,
): YamlDocument {
  // Later errors are mostly consequences of the first.
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined)
    return broken([{ offset: first.pos[0], message: wordsForErrors[first.code] }], positionAt);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return { kind: 'empty' };
  const reader = new TreeReader(length + spareNodes);
  const root = reader.read(contents, 0);
  const { problems, misread } = reader;
  if (problems.length > 0 || root === undefined) return broken(problems, positionAt);
  const plain = plainOf(root, length + spareNodes);
  if (plain === undefined) return broken([{ offset: root.start, message: tooMuch }], positionAt);
  return { kind: 'data', value: plain.value, root, misread: placed(misread, positionAt) };
}

const tooMuch = 'aliases that expand to too much data';

interface PlacedProblem {
  readonly offset: number;
  readonly message: string;
}

function broken(found: readonly PlacedProblem[], positionAt: (offset: number) => Position): YamlDocument {
  const inWords = found.map(({ offset, message }) => ({ offset, message: `invalid YAML: ${message}` }));
  return { kind: 'broken', problems: placed(inWords, positionAt) };
}

function placed(
  found: readonly PlacedProblem[],
  positionAt: (offset: number) => Position,
): readonly YamlProblem[] {
  const more = found.length - maxProblems;
  return found.slice(0, maxProblems).map(({ offset, message }, index) => ({
    ...positionAt(offset),
    message: more > 0 && index === maxProblems - 1 ? `${message} (and ${more} more of this kind)` : message,
  }));
}

/** Turns the library's tree into ours, and collects problems with what we do not support. */
class TreeReader {
  readonly problems: PlacedProblem[] = [];
  readonly misread: PlacedProblem[] = [];
  readonly #anchors = new Map<string, YamlNode>();
  #mergesLeft: number;

  constructor(maxMerged: number) {
    this.#mergesLeft = maxMerged;
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
    if (isScalar(node)) {
      const message = isPlain(node) ? misreadValue(node.source ?? '', node.value) : undefined;
      if (message !== undefined) this.misread.push({ offset: start, message });
      return readScalar(node, start);
    }
    if (isSeq(node)) {
      return { kind: 'list', start, items: node.items.flatMap((item) => this.read(item, depth + 1) ?? []) };
    }
    if (isMap(node)) return { kind: 'map', start, entries: this.#readEntries(node.items, depth) };
    return { kind: 'scalar', value: null, start, end: start, style: 'plain' };
  }

  #readEntries(pairs: readonly Pair[], depth: number): readonly YamlEntry[] {
    const seen = new Set<string>();
    const entries = new Map<string, YamlEntry>();
    for (const pair of pairs) {
      const keyStart = startOf(pair.key);
      const read = this.#readKey(pair.key, keyStart);
      if (read === undefined) continue;
      const { key, isMerge, end } = read;
      const node = this.read(pair.value ?? end, depth + 1);
      // For kubectl, a merge key overrides the keys before it.
      if (isMerge) for (const entry of this.#merged(node, keyStart)) entries.set(entry.key, entry);
      else if (seen.has(key)) this.#add(keyStart, `the key ${JSON.stringify(clipped(key))} is repeated`);
      else if (node !== undefined) entries.set(key, { key, keyStart, node });
      if (!isMerge) seen.add(key);
    }
    return [...entries.values()];
  }

  #readKey(node: unknown, start: number) {
    if (!isScalar(node)) return this.#add(start, 'a key that is not plain text');
    const key = typeof node.value === 'string' ? node.value : '';
    const message = isPlain(node) ? misreadKey(key) : undefined;
    if (message !== undefined) this.misread.push({ offset: start, message });
    return { key, isMerge: isPlain(node) && key === mergeKey, end: node.range?.[1] };
  }

  #merged(node: YamlNode | undefined, keyStart: number): readonly YamlEntry[] {
    const entries = node === undefined ? [] : mergedEntries(node);
    if (entries === undefined) this.#add(keyStart, 'a merge key (<<) without an object or a list of objects');
    this.#mergesLeft -= entries?.length ?? 0;
    if (this.#mergesLeft >= 0) return entries ?? [];
    this.#add(keyStart, tooMuch);
    return [];
  }

  #add(offset: number, message: string): undefined {
    this.problems.push({ offset, message });
  }
}

function isPlain(node: Scalar): boolean {
  return styleOf(node) === 'plain' && node.tag === undefined;
}

function readScalar(node: Scalar, start: number): YamlScalar {
  return { kind: 'scalar', value: node.value, start, end: node.range?.[1] ?? start, style: styleOf(node) };
}

function styleOf(node: Scalar): YamlScalar['style'] {
  return styles[node.type ?? 'PLAIN'] ?? 'plain';
}

const styles: Readonly<Record<string, YamlScalar['style']>> = {
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
};

/** For a missing value, `node` is the offset where it should be. */
function startOf(node: unknown): number {
  if (typeof node === 'number') return node;
  if (isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)) return node.range?.[0] ?? 0;
  return 0;
}

// Words for the errors of the YAML library, whose own texts may quote the file.

const misplacedAlias = 'a misplaced alias or anchor';
const misplaced = 'a value that does not fit the values around it';
const oddKey = 'a key that is not one line of plain text';
const oddTag = 'an unsupported tag (a word that begins with !), or a value that its tag does not allow';
const unexpected = 'unexpected text';

const wordsForErrors = {
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
} as const;
