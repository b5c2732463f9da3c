// Describes a write of a policy or share as two versions, and the fate of objects it no longer wants.
import type { ProviderId } from '../terms/provider-id.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';

export interface ProviderWrite {
  readonly id: ProviderId;
  /** Undefined on CREATE, and where the stored version does not load. */
  readonly before: ProviderDefinition | undefined;
  /** Undefined on DELETE. */
  readonly after: ProviderDefinition | undefined;
}

/** The fate of objects that are no longer wanted. `kept`: they stay until the provider is resumed. */
export type Fate = 'deleted' | 'released' | 'kept';

export function fateOf({ before, after }: ProviderWrite): Fate {
  if (after !== undefined) {
    const { suspend, deletionPolicy } = after.object.spec;
    if (suspend) return 'kept';
    return deletionPolicy === 'Orphan' ? 'released' : 'deleted';
  }
  const spec = before?.object.spec;
  return spec?.suspend === true || spec?.deletionPolicy === 'Orphan' ? 'released' : 'deleted';
}
