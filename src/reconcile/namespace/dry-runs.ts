// Remembers for which live objects a dry run has shown that they are as they should be, although they read otherwise.
import { createHash } from 'node:crypto';
import { isJsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { appliedAnnotation, ownerAnnotation } from '../../api/names.ts';
import { annotationsOf, valueOf } from '../../base/metadata.ts';

/** More than these are forgotten, and found out again. */
const mostKept = 50_000;

export class DryRuns {
  /** By UID: what was wanted and what was there. */
  readonly #known = new Map<string, string>();

  isKnown(wanted: KubeObject, live: KubeObject): boolean {
    return this.#known.get(uidOf(live)) === fingerprint(wanted, live);
  }

  remember(wanted: KubeObject, live: KubeObject): void {
    if (this.#known.size >= mostKept) this.#known.clear();
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
  return createHash('sha256').update(JSON.stringify(parts, inOrder)).digest('base64');
}

/** An answer and a watch have the same fields, but not in the same order. */
function inOrder(_key: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Without what the API server counts, and what other controllers report in the status. */
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
