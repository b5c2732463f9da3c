// Classifies changes of policies, shares and Namespaces by what has to be done about them.
import { isDeepStrictEqual } from 'node:util';
import { readyCondition } from '../schema/names.ts';
import { isJsonObject, ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import { isNewerResourceVersion } from '../base/resource-version.ts';
import type { NamespaceChange } from '../state/live-cluster.ts';
import type { ProviderChange } from '../state/live-providers.ts';

/**
 * Returns whether only our own condition differs. Most likely we wrote it ourselves, and it makes no object possible
 * that was not possible before.
 */
export function changesOnlyReadiness(before: KubeObject | undefined, after: KubeObject): boolean {
  return before !== undefined && isDeepStrictEqual(withoutReadiness(before), withoutReadiness(after));
}

function withoutReadiness({ metadata, status, ...rest }: KubeObject): unknown {
  const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
  const { conditions, ...others } = isJsonObject(status) ? status : {};
  const theirs = Array.isArray(conditions)
    ? conditions.filter((condition) => ownMember(condition, 'type') !== readyCondition)
    : [];
  return { ...rest, metadata: kept, status: { ...others, conditions: theirs } };
}

/** Returns whether the same object went back to an older version: etcd was restored, because watches never go back. */
export function wasRestored(change: ProviderChange | NamespaceChange): boolean {
  const [before, after] = [metadataOf(change, 'before'), metadataOf(change, 'after')];
  const [old, now] = [ownMember(before, 'resourceVersion'), ownMember(after, 'resourceVersion')];
  return (
    ownMember(before, 'uid') === ownMember(after, 'uid') &&
    typeof old === 'string' &&
    typeof now === 'string' &&
    isNewerResourceVersion(old, now)
  );
}

function metadataOf(change: ProviderChange | NamespaceChange, side: 'before' | 'after'): unknown {
  return change.kind === 'namespace' ? change[side]?.metadata : change[side]?.state;
}
