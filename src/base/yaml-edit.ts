// Changes values in a text of YAML. Where one scalar replaces another, no other character of the text changes.
import { ownMember } from './json.ts';
import type { Path } from './problem.ts';
import { follow, type YamlNode } from './yaml-tree.ts';
import { editableDocuments, parseYaml, stringifyYaml } from './yaml.ts';

export interface YamlEdit {
  /** Counts from 1. */
  readonly document: number;
  readonly path: Path;
  /** The map or list around it that is written again, with its comments, if a key or item is added or removed. */
  readonly within: Path;
  /** Undefined removes the key or item. A value at the length of a list is added to the list. */
  readonly value: unknown;
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Keeps comments and the order of keys. The text must be valid. */
export function editedYaml(text: string, edits: readonly YamlEdit[]): string {
  const { documents } = parseYaml(text);
  const splices = new Map<number, Splice>();
  const others: YamlEdit[] = [];
  for (const edit of edits) {
    const document = documents[edit.document - 1];
    const node = document?.kind === 'data' ? ownNode(document.root, edit.path) : undefined;
    const isInPlace = node?.kind === 'scalar' && node.end > node.start;
    if (!isInPlace || typeof edit.value === 'object' || edit.value === undefined) others.push(edit);
    else splices.set(node.start, { start: node.start, end: node.end, text: written(edit.value, text) });
  }
  const changed = spliced(text, [...splices.values()]);
  return others.length === 0 ? changed : withStructure(changed, others);
}

/** Returns undefined for a node of an alias or a merge key. A change there would change other values, too. */
function ownNode(root: YamlNode, path: Path): YamlNode | undefined {
  let parent = root;
  for (const index of path.keys()) {
    const { node, keyStart = node.start, complete } = follow(root, path.slice(0, index + 1));
    // An anchor stands before its aliases.
    if (!complete || keyStart < parent.start || node.start < keyStart) return undefined;
    parent = node;
  }
  return parent;
}

function spliced(text: string, splices: readonly Splice[]): string {
  const lastFirst = splices.toSorted((a, b) => b.start - a.start);
  return lastFirst.reduce((before, { start, end, text: value }) => {
    // A block ends after its last line break.
    const lineBreak = before.slice(start, end).endsWith('\n') ? '\n' : '';
    return before.slice(0, start) + value + lineBreak + before.slice(end);
  }, text);
}

/** Writes a plain scalar only if no reader of YAML could read another value. */
function written(value: unknown, around: string): string {
  const isJson = /^\s*[[{]/.test(around);
  if (typeof value !== 'string' || isJson || !/^[ -~]*$/.test(value)) return JSON.stringify(value);
  const isWord = /^[A-Za-z][\w./-]{2,}$/.test(value) && !/^(true|false|null|yes|off)$/i.test(value);
  return isWord ? value : `'${value.replaceAll("'", "''")}'`;
}

/** An alias stays as it is, because its value belongs to another place. */
function withStructure(text: string, edits: readonly YamlEdit[]): string {
  const documents = editableDocuments(text);
  const splices = new Map<number, Splice>();
  for (const { document, path, within, value } of edits) {
    const target = documents[document - 1];
    const whole = target?.getIn(within, true);
    const parent = target?.getIn(path.slice(0, -1), true);
    if (target === undefined || !isPlaced(whole) || !Array.isArray(ownMember(parent, 'items'))) continue;
    if (value === undefined) target.deleteIn(path);
    else target.setIn(path, value);
    const [start, , end] = whole.range;
    splices.set(start, { start, end, text: rendered(whole, text, start) });
  }
  return spliced(text, [...splices.values()]);
}

interface Placed {
  readonly range: readonly [start: number, valueEnd: number, end: number];
}

function isPlaced(node: unknown): node is Placed {
  return Array.isArray(ownMember(node, 'range'));
}

/** Indents the other lines of a block as its first line. */
function rendered(node: Placed, text: string, start: number): string {
  const column = start - (text.lastIndexOf('\n', start - 1) + 1);
  const isPadded = !/^[[{]\S/.test(text.slice(start, start + 2));
  const whole = stringifyYaml(node, { flowCollectionPadding: isPadded }).trimEnd();
  // The anchor of the value stands before its start.
  const isAnchored = ownMember(node, 'anchor') !== undefined;
  const lines = (isAnchored ? whole.replace(/^&\S+\s+/, '') : whole).split('\n');
  return lines.join(`\n${' '.repeat(column)}`);
}
