// What every write works with.
import type { Access } from '../access/authorizer.ts';
import type { Admission } from '../admission/admission.ts';
import type { Kinds } from '../resource.ts';
import type { ObjectStore } from '../store/store.ts';

export interface WriteContext {
  readonly store: ObjectStore;
  readonly kinds: Kinds;
  readonly admission: Admission;
  readonly authorizer: Access;
  readonly now: () => Date;
  readonly uid: () => string;
}

/** As Kubernetes writes times: whole seconds. */
export function timestamp(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`;
}
