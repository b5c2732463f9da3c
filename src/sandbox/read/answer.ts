// What is answered to a request for objects.
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';

export interface SandboxWatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  /** A Status for ERROR; of a BOOKMARK only metadata.resourceVersion (and annotations) count. */
  readonly object: KubeObject;
}

export interface ObjectList {
  readonly kind: 'list';
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

export type ObjectAnswer =
  | ObjectList
  | { readonly kind: 'object'; readonly code: number; readonly object: JsonObject }
  | { readonly kind: 'watch'; readonly events: AsyncIterable<SandboxWatchEvent> };
