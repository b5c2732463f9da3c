// Remembers the objects that read differently but need no write, because a dry run has shown it.
import { isJsonObject } from '../../base/json.ts';
import { type KubeObject, annotationsOf, valueOf } from '../../base/metadata.ts';
import { appliedAnnotation, ownerAnnotation } from '../../schema/names.ts';
import { createHash } from 'node:crypto';

/** Beyond this number all entries are dropped, and dry runs find them out again. */
const maxEntries = 50_000;

/** Remembers live objects that need no write although they read differently, because a dry run has shown it. */
export class DryRuns {
  /** By UID: the hash of the desired and the live object. */
  readonly #known = new Map<string, string>();

  isKnown(wanted: KubeObject, live: KubeObject): boolean {
    return this.#known.get(uidOf(live)) === fingerprint(wanted, live);
  }

  remember(wanted: KubeObject, live: KubeObject): void {
    if (this.#known.size >= maxEntries) this.#known.clear();
    this.#known.set(uidOf(live), fingerprint(wanted, live));
  }
}

function uidOf({ metadata: { uid = '' } }: KubeObject): string {
  return uid;
}

function fingerprint(wanted: KubeObject, live: KubeObject): string {
  const annotations = annotationsOf(wanted);
  const parts = [
    valueOf(annotations, appliedAnnotation),
    valueOf(annotations, ownerAnnotation),
    comparable(live),
  ];
  return createHash('sha256').update(JSON.stringify(parts, sortedKeys)).digest('base64');
}

/** Sorts keys: an answer and a watch event have the same fields, but not in the same order. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the object without the counters of the API server, and without the status, which other controllers write. */
export function comparable(object: KubeObject): KubeObject {
  const { status: _status, ...rest } = object;
  const {
    managedFields: _fields,
    resourceVersion: _version,
    generation: _count,
    ...metadata
  } = object.metadata;
  return { ...rest, metadata };
}
