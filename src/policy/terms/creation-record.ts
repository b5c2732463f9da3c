// Reads and extends the record on a Namespace: which objects Reeve has created there once and then released.
import { annotationsOf, valueOf, type KubeObject } from '../../base/metadata.ts';
import type { ObjectKey } from '../../base/object-type.ts';
import { createdOnceAnnotation } from '../../schema/names.ts';

const maxBytes = 65_536;
/** https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go */
const maxOfAllAnnotations = 262_144;

/** The UID ties the record to this Namespace: a copied manifest brings the record of another one. */
function firstLine({ metadata: { uid = '' } }: KubeObject): string {
  return `uid: ${uid}`;
}

/** Returns nothing for a Namespace without a UID, because the API server has not stored it. */
export function recordedKeys(namespaceObject: KubeObject): ReadonlySet<string> {
  const text = valueOf(annotationsOf(namespaceObject), createdOnceAnnotation);
  if (text === undefined || namespaceObject.metadata.uid === undefined) return new Set();
  const [first, ...keys] = text.split('\n');
  return new Set(first === firstLine(namespaceObject) ? keys : []);
}

/** Returns the text of the annotation with further objects. */
export function extendedRecord(namespaceObject: KubeObject, keys: Iterable<ObjectKey>): string {
  const all = [...recordedKeys(namespaceObject)].concat(...keys);
  return [firstLine(namespaceObject), ...[...new Set(all)].sort()].join('\n');
}

/** Counts the room that is left in the record, so that Reeve creates no object that it could not record. */
export class RecordRoom {
  #left: number;

  constructor(namespaceObject: KubeObject) {
    const others = Object.entries(annotationsOf(namespaceObject))
      .filter(([key]) => key !== createdOnceAnnotation)
      .reduce((sum, [key, value]) => sum + Buffer.byteLength(`${key}${value}`), createdOnceAnnotation.length);
    const size = Buffer.byteLength(extendedRecord(namespaceObject, []));
    this.#left = Math.min(maxBytes, maxOfAllAnnotations - others) - size;
  }

  /** Returns whether the object still fits. */
  take(key: ObjectKey): boolean {
    this.#left -= Buffer.byteLength(key) + 1;
    return this.#left >= 0;
  }
}
