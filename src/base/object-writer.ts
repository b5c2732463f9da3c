// The port through which every room reads, writes and deletes single objects of the API server.
import type { JsonObject } from './json.ts';
import type { KubeObject, ObjectRef } from './metadata.ts';

export interface PatchOptions {
  readonly subresource?: 'status';
  /** The field manager, if it is not that of Reeve. */
  readonly manager?: string;
  readonly signal?: AbortSignal;
}

export interface ApplyOptions extends PatchOptions {
  /** Takes over fields that another manager has set differently. Without it they are a conflict (409). */
  readonly force: boolean;
  /** Stores nothing, and returns what would be stored. */
  readonly dryRun?: boolean;
}

export interface Preconditions {
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** All methods reject with a KubeError, or with the reason of the signal. */
export interface ObjectWriter {
  /** Returns undefined when the object does not exist, or its kind is not served. */
  read(ref: ObjectRef, signal?: AbortSignal): Promise<KubeObject | undefined>;
  /**
   * Server-side apply: creates the object, or sets the given fields and removes fields of the last apply. `metadata.uid` and
   * `metadata.resourceVersion` are preconditions.
   */
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>;
  /** JSON merge patch (https://www.rfc-editor.org/rfc/rfc7396). Preconditions as in `apply`. */
  mergePatch(ref: ObjectRef, patch: JsonObject, options?: PatchOptions): Promise<KubeObject>;
  /** Also resolves when that object no longer exists; a changed resourceVersion rejects with code 409. */
  remove(ref: ObjectRef, preconditions: Preconditions, signal?: AbortSignal): Promise<void>;
}

/** An ObjectWriter that deletes nothing. */
export type ObjectStore = Pick<ObjectWriter, 'read' | 'apply' | 'mergePatch'>;
