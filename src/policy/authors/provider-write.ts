// Describes a write of a policy or share as two versions, and the fate of objects it no longer wants.
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';

export interface ProviderWrite {
  readonly id: ProviderId;
  /** Undefined on CREATE, and where the stored version does not load. */
  readonly before: ProviderDefinition | undefined;
  /** Undefined on DELETE. */
  readonly after: ProviderDefinition | undefined;
  readonly reported: ReportedState;
}

/** What the status says of the older version. The reconciler decides by live objects, whatever a status says. */
export interface ReportedState {
  /** A share without a source and without copies. */
  readonly hasNoCopies: boolean;
  /** The fuse holds deletions. */
  readonly holdsDeletions: boolean;
}

export function reportedOn(stored: KubeObject | undefined): ReportedState {
  const { metadata, status } = stored ?? { metadata: {}, status: undefined };
  const isCurrent = ownMember(status, 'observedGeneration') === metadata['generation'];
  const all = ownMember(status, 'conditions');
  const conditions: readonly unknown[] = Array.isArray(all) && isCurrent ? all : [];
  const has = (wanted: Readonly<Record<string, string>>): boolean =>
    conditions.some((each) => Object.entries(wanted).every(([key, value]) => ownMember(each, key) === value));
  return {
    hasNoCopies: has({ type: 'SourceAvailable', status: 'False' }) && ownMember(status, 'synced') === 0,
    holdsDeletions: has({ type: 'Stalled', status: 'True', reason: 'TooManyDeletions' }),
  };
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
