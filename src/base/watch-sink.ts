// Receives objects from a list-watch: the whole state after each list, then each change.
import type { KubeObject } from './metadata.ts';

/** The version of the empty list of a kind that the API server does not serve. */
export const unservedVersion = '0';

export interface WatchSink {
  /**
   * Replaces the state by these objects, as of that version. Objects that are not listed no longer exist. `isRestored`: etcd was
   * restored from a backup, so versions from before cannot be compared with these.
   */
  replaced(objects: readonly KubeObject[], resourceVersion: string, isRestored?: boolean): void;
  /** Adds or updates an object. The same name with another UID is another object. */
  changed(object: KubeObject): void;
  /** Removes an object, given in its last state, that was deleted or that the selector no longer selects. */
  removed(object: KubeObject): void;
}
