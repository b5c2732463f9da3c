// What a list-watch tells whoever keeps the objects: the whole state after each list, then every change in its order.
import type { KubeObject } from './kube-object.ts';

export interface WatchSink {
  /** All objects there are, as of that version; what is not among them is gone. */
  replaced(objects: readonly KubeObject[], resourceVersion: string): void;
  /** Created or changed. The same name with another UID is another object. */
  changed(object: KubeObject): void;
  /** The last state of an object that is gone, or that a selector selects no more. */
  removed(object: KubeObject): void;
}
