// Compares the contents of a namespace before and after a change, and words the difference for its author.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/metadata.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { desired, type Claim, type Desired } from '../desired/desired.ts';
import type { Circumstances } from '../terms/budget.ts';
import { kindOfKey, nameOfKey, type ObjectKey } from '../../base/object-type.ts';
import { shownProvider } from '../terms/provider-id.ts';

/** All claims to each object of a namespace. The first claim wins. */
export type Claims = ReadonlyMap<ObjectKey, readonly Claim[]>;

/** The change of one object, by the claims that win before and after. */
export type Change =
  | { readonly kind: 'lost'; readonly before: Claim }
  | { readonly kind: 'gained'; readonly after: Claim }
  /** `kept`: by the same provider, maybe in another form. `handedOver`: from one provider to another. */
  | { readonly kind: 'kept' | 'handedOver'; readonly before: Claim; readonly after: Claim };

/** Returns each object that is wanted before or after the change. The objects from before come first. */
export function difference(before: Claims, after: Claims): ReadonlyMap<ObjectKey, Change> {
  const changes = new Map<ObjectKey, Change>();
  for (const [key, [claim]] of before) {
    const [next] = after.get(key) ?? [];
    if (claim !== undefined)
      changes.set(key, next === undefined ? { kind: 'lost', before: claim } : changeOf(claim, next));
  }
  for (const [key, [claim]] of after)
    if (claim !== undefined && !changes.has(key)) changes.set(key, { kind: 'gained', after: claim });
  return changes;
}

function changeOf(before: Claim, after: Claim): Change {
  return { kind: before.provider === after.provider ? 'kept' : 'handedOver', before, after };
}

// Words the objects that a write of a Namespace adds, changes and removes.

/** Puts removals first, because warnings beyond the limit are cut. */
export function contentsNotices(
  before: KubeObject,
  after: KubeObject,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): readonly string[] {
  const old = desired(before, snapshot, now, budget);
  const wanted = desired(after, snapshot, now, budget);
  const changes = difference(old.claims, wanted.claims);
  // A frozen provider changes nothing: it is suspended, or its match or template has an error.
  const isFrozen = ({ provider }: Claim): boolean => wanted.frozen.has(provider);
  return [
    ...[...changes.values()].flatMap((change) =>
      change.kind !== 'lost' || isFrozen(change.before) || old.frozen.has(change.before.provider)
        ? []
        : [removalText(change.before, snapshot)],
    ),
    ...fieldsNotices(old, wanted, (isKept) => (isKept ? '' : 'no longer provides')),
    ...[...wanted.claims.keys()].flatMap((key) => {
      const change = changes.get(key);
      return change === undefined || change.kind === 'lost' || isFrozen(change.after)
        ? []
        : additionNotice(change);
    }),
    ...fieldsNotices(wanted, old, (wasThere) => (wasThere ? 'changes' : 'now provides')),
  ];
}

function removalText({ provider, key }: Claim, { providers }: ClusterSnapshot): string {
  return providers.get(provider)?.deletionPolicy === 'Orphan'
    ? `${shownProvider(provider)} leaves ${objectText(key)} behind here: its deletionPolicy is Orphan`
    : `${shownProvider(provider)} no longer provides ${objectText(key)} here`;
}

function additionNotice(change: Exclude<Change, { kind: 'lost' }>): readonly string[] {
  const { provider, key, content } = change.after;
  const provides = `${shownProvider(provider)} now provides ${objectText(key)} here`;
  switch (change.kind) {
    case 'gained':
      return [provides];
    case 'handedOver':
      return [`${provides}, instead of ${shownProvider(change.before.provider)}`];
    case 'kept':
      if (isDeepStrictEqual(change.before.content, content)) return [];
      return [`${shownProvider(provider)} changes ${objectText(key)} here`];
  }
}

/** Lists the ServiceAccounts whose fields differ between `one` and `other`. A provider with an error changes nothing. */
function fieldsNotices(
  one: Desired,
  other: Desired,
  verbOf: (isInOther: boolean) => string,
): readonly string[] {
  return [...one.fields].flatMap(([key, claims]) =>
    claims.flatMap(({ provider, content }) => {
      if ([one, other].some(({ frozen }) => frozen.has(provider))) return [];
      const same = other.fields.get(key)?.find((each) => each.provider === provider);
      const verb = isDeepStrictEqual(same?.content, content) ? '' : verbOf(same !== undefined);
      return verb === '' ? [] : [`${shownProvider(provider)} ${verb} fields of ${objectText(key)} here`];
    }),
  );
}

function objectText(key: ObjectKey): string {
  return `${kindOfKey(key)} ${nameOfKey(key)}`;
}
