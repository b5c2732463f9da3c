// A write of a policy or share as two versions of it, and what the newer one leaves of what the older one made.
import type { OwnerId } from '../owner.ts';
import type { OwnerDefinition } from './load-owner.ts';

export interface OwnerChange {
  readonly id: OwnerId;
  /** Undefined on CREATE, and where the stored version does not load. */
  readonly before: OwnerDefinition | undefined;
  /** Undefined on DELETE. */
  readonly after: OwnerDefinition | undefined;
}

/** What becomes of objects that are no longer wanted. `kept`: nothing now, because the owner is suspended. */
export type Fate = 'deleted' | 'released' | 'kept';

export function fateOf({ before, after }: OwnerChange): Fate {
  if (after !== undefined) {
    const { suspend, deletionPolicy } = after.object.spec;
    if (suspend) return 'kept';
    return deletionPolicy === 'Orphan' ? 'released' : 'deleted';
  }
  const spec = before?.object.spec;
  return spec?.suspend === true || spec?.deletionPolicy === 'Orphan' ? 'released' : 'deleted';
}
