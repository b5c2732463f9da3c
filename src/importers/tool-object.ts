// An object of the input as the importers see it: the fields that steer the older tool, behind a reader.
import { type KubeObject, annotationsOf, labelsOf, nameOf } from '../base/metadata.ts';
import { renderPath } from '../base/problem.ts';
import type { ImportOrigin, LostField } from '../inspect/output-schemas/import-output.ts';
import type { FieldRow, OlderTool, SourceObject } from './importer.ts';
import { Reader } from './reader.ts';

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
  /** The annotation of the tool with this name, without its prefix. */
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

/** The fields that the tool reads in an object of its own kinds. */
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
