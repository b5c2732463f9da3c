// Builds the smallest JSON Patch that adds labels and annotations to an object, and applies it.
import { type KubeObject, type StringMap, withMetadata } from '../../base/metadata.ts';

export interface JsonPatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: string | StringMap;
}

interface MetadataAdditions {
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
}

export function patchOf(object: KubeObject, additions: MetadataAdditions): readonly JsonPatchOperation[] {
  return [
    ...additionsTo('labels', object.metadata.labels, additions.labels),
    ...additionsTo('annotations', object.metadata.annotations, additions.annotations),
  ];
}

function additionsTo(
  field: 'labels' | 'annotations',
  present: StringMap | undefined,
  added: ReadonlyMap<string, string>,
): readonly JsonPatchOperation[] {
  if (added.size === 0) return [];
  const sorted = [...added].sort(([a], [b]) => (a < b ? -1 : 1));
  // `add` below a missing member fails, so a missing map is added whole (RFC 6902, section 4.1).
  if (present === undefined)
    return [{ op: 'add', path: `/metadata/${field}`, value: Object.fromEntries(sorted) }];
  return sorted.map(([key, value]) => ({
    op: 'add',
    path: `/metadata/${field}/${escapePointer(key)}`,
    value,
  }));
}

/** Returns the object as the API server has it after the patch. */
export function patchedBy(object: KubeObject, patch: readonly JsonPatchOperation[]): KubeObject {
  return patch.reduce((result, { path, value }) => {
    const [field, key = ''] = path.slice('/metadata/'.length).split('/');
    const added =
      typeof value === 'string' ? [[unescapePointer(key), value] as const] : Object.entries(value);
    return withMetadata(result, field === 'labels' ? field : 'annotations', new Map(added));
  }, object);
}

/** RFC 6901, section 3: `~` first, so that the `~` of `~1` is not escaped again. */
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}
