// Reads the fields of an object of an older tool and remembers them, so that no field is dropped silently.
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import { renderPath, type Path } from '../base/problem.ts';
import type { ImportOrigin, LostField } from '../inspect/output-schemas/import-output.ts';
import { type KubeObject, annotationsOf, labelsOf, nameOf } from '../base/metadata.ts';
import type { FieldRow, OlderTool, SourceObject } from './importer.ts';

interface Ledger {
  readonly from: ImportOrigin;
  readonly read: Set<string>;
  readonly lost: LostField[];
}

const noObject: ImportOrigin = { object: { apiVersion: '', kind: '', name: '' } };

/**
 * A value of the input and its path. A method that returns the value marks it as read. A value of another type than the
 * method returns stays unread, and so is lost at the end.
 */
export class Reader {
  readonly #ledger: Ledger;
  readonly #value: unknown;
  readonly #path: Path;

  constructor(
    value: unknown,
    path: Path = [],
    ledger: Ledger = { from: noObject, read: new Set(), lost: [] },
  ) {
    this.#value = value;
    this.#path = path;
    this.#ledger = ledger;
  }

  static of(value: unknown, from: ImportOrigin): Reader {
    return new Reader(value, [], { from, read: new Set(), lost: [] });
  }

  /** The place in the input. */
  get from(): ImportOrigin {
    const { from } = this.#ledger;
    return this.#path.length === 0 ? from : { ...from, path: renderPath(this.#path) };
  }

  /** False for a missing field and for null, which Kubernetes treats alike. */
  get isPresent(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  at(...keys: readonly string[]): Reader {
    const value = keys.reduce<unknown>((parent, key) => ownMember(parent, key), this.#value);
    return new Reader(value, [...this.#path, ...keys], this.#ledger);
  }

  /** The items of a list. */
  items(): readonly Reader[] {
    if (!Array.isArray(this.#value)) return [];
    return this.#value.map((item: unknown, index) => new Reader(item, [...this.#path, index], this.#ledger));
  }

  /** The members of an object. */
  entries(): readonly (readonly [key: string, value: Reader])[] {
    return isJsonObject(this.#value) ? Object.keys(this.#value).map((key) => [key, this.at(key)]) : [];
  }

  text(): string | undefined {
    return typeof this.#value === 'string' ? this.#take(this.#value) : undefined;
  }

  /** Returns a reader of the same value with its own record: a field that it reads stays unread here. Losses are shared. */
  apart(): Reader {
    const { from, read, lost } = this.#ledger;
    return new Reader(this.#value, this.#path, { from, read: new Set(read), lost });
  }

  /** The texts of these fields. */
  textsAt(...keys: readonly string[]): readonly (string | undefined)[] {
    return keys.map((key) => this.at(key).text());
  }

  number(): number | undefined {
    return typeof this.#value === 'number' ? this.#take(this.#value) : undefined;
  }

  /** Annotations write a bool as text. */
  flag(): boolean | undefined {
    const word = typeof this.#value === 'string' ? this.#value.toLowerCase() : this.#value;
    if (word === true || word === 'true') return this.#take(true);
    return word === false || word === 'false' ? this.#take(false) : undefined;
  }

  /** Undefined unless the value is a list. Items that are no text stay unread. */
  texts(): readonly string[] | undefined {
    if (!Array.isArray(this.#value)) return undefined;
    return this.items().flatMap((item) => item.text() ?? []);
  }

  /** The texts between commas. Undefined if the field is missing. */
  words(): readonly string[] | undefined {
    const words = this.text()?.split(',');
    return words?.map((each) => each.trim()).filter((each) => each !== '');
  }

  /** Members that are no text stay unread. */
  textMap(): Readonly<Record<string, string>> {
    const texts = this.entries().map(([key, value]) => [key, value.text()] as const);
    return Object.fromEntries(texts.flatMap(([key, text]) => (text === undefined ? [] : [[key, text]])));
  }

  /** Returns the whole value, for the caller to copy. */
  whole(): unknown {
    return this.#take(this.#value);
  }

  /** Marks a field that has no effect, or whose effect Reeve has anyway. */
  skip(): void {
    this.#take(this.#value);
  }

  /** Marks a field whose value equals the default of the tool. */
  skipIf(value: unknown): void {
    if (this.#value === value) this.skip();
  }

  lose(why: string, instead?: string): void {
    if (!this.isPresent) return;
    this.skip();
    this.limit(why, instead);
  }

  /** Reports a part of the meaning as lost, although the field itself is read. */
  limit(why: string, instead?: string): void {
    const lost: LostField = { from: this.from, why, ...(instead === undefined ? {} : { instead }) };
    const isKnown = this.#ledger.lost.some((each) => each.from.path === lost.from.path && each.why === why);
    if (!isKnown) this.#ledger.lost.push(lost);
  }

  /** Returns all losses of the object so far. */
  lost(): readonly LostField[] {
    return this.#ledger.lost;
  }

  /** Returns the parts below this value that were neither read nor lost. An unread part with all its fields counts as one. */
  unread(): readonly Path[] {
    return unreadParts(this.#value, this.#path, this.#ledger.read);
  }

  #take<T>(value: T): T {
    this.#ledger.read.add(JSON.stringify(this.#path));
    return value;
  }
}

function unreadParts(value: unknown, path: Path, read: ReadonlySet<string>): readonly Path[] {
  if (value === undefined || value === null || read.has(JSON.stringify(path))) return [];
  if (typeof value !== 'object') return [path];
  // Empty lists and objects hold nothing that could be lost.
  const members: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  const parts = members.map(([key, member]) => unreadParts(member, [...path, key], read));
  const [top] = path;
  const isWhole = parts.every(([first, ...more]) => more.length === 0 && first?.length === path.length + 1);
  // Each annotation of a tool has a meaning of its own, and each field below spec.
  return isWhole && parts.length > 0 && path.length > 1 && top !== 'metadata' ? [path] : parts.flat();
}

// Helpers for lists and fields that several importers need.

/** Leaves missing and empty fields out. False, 0 and "" are values; undefined, {} and [] are not. */
export function filled(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || (isJsonObject(value) && Object.keys(value).length === 0);
}

export function distinct<T>(items: readonly T[]): readonly T[] {
  return [...new Map(items.map((each) => [JSON.stringify(each), each])).values()];
}

/** Divides a list into parts. An empty list gives one empty part. */
export function inParts<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  if (items.length <= size) return [items];
  return [items.slice(0, size), ...inParts(items.slice(size), size)];
}

// Shows an object of the input to importers: the fields that steer the older tool, through a reader.

/** An object of the input. Its reader sees only the fields that steer the tool, never the values of a Secret. */
export interface ToolObject {
  readonly object: KubeObject;
  readonly kind: string;
  readonly name: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** `Secret/default/regcred` */
  readonly id: string;
  /** True for objects of the tool's own kinds. */
  readonly isOfTool: boolean;
  readonly reader: Reader;
  /** Returns the annotation of the tool with this name, without its prefix. */
  readonly annotation: (name: string) => Reader;
}

export function toolObject({ object, ...place }: SourceObject, tool: OlderTool): ToolObject {
  const named = originOf(object);
  const { kind, namespace = '', name } = named;
  const isOfTool = tool.groups.includes(apiGroupOf(object));
  const from = { object: named, ...place };
  const reader = Reader.of(isOfTool ? ownTree(object, tool) : annotationTree(object, tool), from);
  const annotation = (key: string): Reader =>
    reader.at('metadata', 'annotations', `${tool.annotations ?? ''}${key}`);
  return { object, kind, name, namespace, id: idOf(named), isOfTool, reader, annotation };
}

export function originOf(object: KubeObject): ImportOrigin['object'] {
  const { apiVersion = '', kind = '', metadata } = object;
  const { namespace = '' } = metadata;
  return { apiVersion, kind, ...(namespace === '' ? {} : { namespace }), name: nameOf(object) };
}

/** `Secret/default/regcred` */
export function idOf({ kind, namespace, name }: ImportOrigin['object']): string {
  return [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');
}

export function apiGroupOf({ apiVersion = '' }: Pick<KubeObject, 'apiVersion'>): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

/** Returns the fields that the tool reads in an object of its own kinds. */
function ownTree(object: KubeObject, { ownKeys }: OlderTool): object {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, status: _status, ...fields } = object;
  if (ownKeys === undefined) return fields;
  const [labels, annotations] = [labelsOf(object), annotationsOf(object)].map((keys) =>
    Object.fromEntries(Object.entries(keys).filter(([key]) => ownKeys.test(key))),
  );
  return { ...fields, metadata: { labels, annotations } };
}

function annotationTree(object: KubeObject, { annotations: prefix, marks = [] }: OlderTool): object {
  const found = Object.entries(annotationsOf(object)).filter(
    ([key]) => prefix !== undefined && key.startsWith(prefix) && !marks.includes(key.slice(prefix.length)),
  );
  return found.length === 0 ? {} : { metadata: { annotations: Object.fromEntries(found) } };
}

export function lostOf({ reader }: ToolObject): readonly LostField[] {
  const unread = reader.unread().map((path) => ({
    from: { ...reader.from, path: renderPath(path) },
    why: 'Reeve has nothing for this field',
  }));
  return [...reader.lost(), ...unread];
}

export function loseFields(reader: Reader, rows: readonly FieldRow[]): void {
  for (const [path, why, instead] of rows) {
    const field = reader.at(...path.split(' ').filter((key) => key !== ''));
    if (why === undefined) field.skip();
    else field.lose(why, instead);
  }
}
