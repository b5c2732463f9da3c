// Words what a write of a Namespace adds to its contents, changes in them and removes from them.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/metadata.ts';
import { kindOfKey, nameOfKey, type ObjectKey } from '../terms/object-key.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { desired, type Desired } from '../desired/desired.ts';
import type { Claim } from '../desired/provider.ts';
import type { Circumstances } from '../terms/budget.ts';
import { shownProvider } from '../terms/provider-id.ts';

/** Removals come first, because warnings beyond the limit are cut. */
export function contentsNotices(
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): readonly string[] {
  // A user who creates or deletes a namespace expects this of its contents. A user who changes a label may not.
  if (before === undefined || after === undefined) return [];
  const old = desired(before, snapshot, now, budget);
  const wanted = desired(after, snapshot, now, budget);
  return [
    ...[...old.claims.keys()].flatMap((key) => removalNotice(key, old, wanted, snapshot)),
    ...fieldsNotices(old, wanted, (isKept) => (isKept ? '' : 'no longer provides')),
    ...[...wanted.claims.keys()].flatMap((key) => additionNotice(key, old, wanted)),
    ...fieldsNotices(wanted, old, (wasThere) => (wasThere ? 'changes' : 'now provides')),
  ];
}

function removalNotice(
  key: ObjectKey,
  old: Desired,
  wanted: Desired,
  { providers }: ClusterSnapshot,
): readonly string[] {
  const provider = winnerOf(key, old)?.provider;
  // A suspended provider removes nothing, and neither does one whose match or template has an error.
  if (provider === undefined || wanted.claims.has(key)) return [];
  if (old.frozen.has(provider) || wanted.frozen.has(provider)) return [];
  if (providers.get(provider)?.deletionPolicy === 'Orphan')
    return [`${shownProvider(provider)} leaves ${objectText(key)} behind here: its deletionPolicy is Orphan`];
  return [`${shownProvider(provider)} no longer provides ${objectText(key)} here`];
}

function additionNotice(key: ObjectKey, old: Desired, wanted: Desired): readonly string[] {
  const [before, after] = [winnerOf(key, old), winnerOf(key, wanted)];
  if (after === undefined || wanted.frozen.has(after.provider)) return [];
  const { provider } = after;
  if (before === undefined) return [`${shownProvider(provider)} now provides ${objectText(key)} here`];
  if (before.provider !== provider)
    return [
      `${shownProvider(provider)} now provides ${objectText(key)} here, instead of ${shownProvider(before.provider)}`,
    ];
  if (isDeepStrictEqual(before.content, after.content)) return [];
  return [`${shownProvider(provider)} changes ${objectText(key)} here`];
}

/** Lists the ServiceAccounts whose fields `one` and `other` want differently. A provider with an error changes nothing. */
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

function winnerOf(key: ObjectKey, { claims }: Desired): Claim | undefined {
  return claims.get(key)?.[0];
}

function objectText(key: ObjectKey): string {
  return `${kindOfKey(key)} ${nameOfKey(key)}`;
}
