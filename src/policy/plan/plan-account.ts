// Plans the fields of one ServiceAccount that Reeve does not own: what providers add, and what Reeve takes back.
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../base/json.ts';
import { keptFieldManager } from '../../schema/names.ts';
import type { FieldsClaim } from '../desired/desired.ts';
import { compareProviders, type ProviderId } from '../terms/provider-id.ts';
import { automountItem, fieldsOf, managerOf, markOf, maxMarks, type ObservedAccount } from './account.ts';
import { knownOwners, NextAccount, type AccountInput } from './next-account.ts';
import {
  conflictResult,
  failedResult,
  syncedResult,
  terminatingText,
  type ObjectResult,
} from './observed.ts';

export interface AccountStep {
  readonly live: ObservedAccount;
  /** One after another. An apply without fields takes back what its manager owns alone. */
  readonly applies: readonly { readonly manager: string; readonly fields: JsonObject }[];
  /** The claims that the step fulfills. */
  readonly claims: readonly FieldsClaim[];
  /** The providers whose fields are taken back or released. */
  readonly leaving: readonly ProviderId[];
}

export interface AccountPlan {
  /** Results of the claims that need no step. */
  readonly results: readonly ObjectResult[];
  readonly step: AccountStep | undefined;
}

export function planAccount(input: AccountInput): AccountPlan {
  const { live, claims } = input;
  if (live === undefined) return { results: claims.map(notCreatedYet), step: undefined };
  if (live.isTerminating)
    return {
      results: claims.map((claim) => failedResult(claim, 'Terminating', terminatingText)),
      step: undefined,
    };
  const wishes = wishesOf(input, live);
  const { released } = wishes;
  const fateOf: AccountInput['fateOf'] = (provider) =>
    released.has(provider) ? 'released' : input.fateOf(provider);
  const next = new NextAccount(live, wishes.active, { ...input, fateOf });
  const applies = appliesTo(live, next);
  const fulfilled = wishes.active.filter((claim) => next.lost(claim) === undefined);
  const conflicts = wishes.active.flatMap((claim) => next.lost(claim) ?? []);
  const results = [...wishes.results, ...conflicts, ...frozenResults(input, next)];
  if (applies.length === 0) return { results: [...results, ...fulfilled.map(syncedResult)], step: undefined };
  return { results, step: { live, applies, claims: fulfilled, leaving: [...next.leaving] } };
}

function notCreatedYet(claim: FieldsClaim): ObjectResult {
  const message =
    claim.name === 'default'
      ? 'Kubernetes has not created it yet, and Reeve only adds fields to it: check that kube-controller-manager runs its controller serviceaccount'
      : 'no ServiceAccount of this name exists yet, and Reeve only adds fields to it: create it, or provide it in contents.resources';
  return failedResult(claim, 'NotCreatedYet', message);
}

interface Wishes {
  readonly active: readonly FieldsClaim[];
  /** Results of the claims that are left out. */
  readonly results: readonly ObjectResult[];
  /** Their fields stay, without marks, because there is no room for those. */
  readonly released: ReadonlySet<ProviderId>;
}

function wishesOf(input: AccountInput, live: ObservedAccount): Wishes {
  const running = input.claims.filter(({ provider }) => input.freezeOf(provider) === undefined);
  if (input.whole !== undefined || live.isManaged) {
    const message = `${input.whole ?? 'another policy'} provides the whole ServiceAccount: set these fields there, or remove it there`;
    const results = running.map((claim) => conflictResult(claim, 'ProvidedByAnother', message));
    return { active: [], results, released: new Set() };
  }
  return withinRoom(running, input, live);
}

/** What a suspended binding of a tenant added must take no room from a policy, so the order of the providers decides. */
function withinRoom(running: readonly FieldsClaim[], input: AccountInput, live: ObservedAccount): Wishes {
  const active: FieldsClaim[] = [];
  const results: ObjectResult[] = [];
  const released = new Set<ProviderId>();
  const providers = [...running.map((claim) => claim.provider), ...keptOwners(live, input)];
  let marks = 0;
  for (const provider of [...new Set(providers)].sort(compareProviders)) {
    const claim = running.find((each) => each.provider === provider);
    const count = claim === undefined ? heldItems(provider, live).length : countOf(claim);
    const fits = marks + count <= maxMarks;
    if (fits) marks += count;
    if (claim === undefined) {
      if (!fits) released.add(provider);
    } else if (fits) active.push(claim);
    else {
      const message = `all policies together may add ${maxMarks} fields to one ServiceAccount, and these are more`;
      results.push(failedResult(claim, 'TooManyPullSecrets', message));
    }
  }
  return { active, results, released };
}

function keptOwners(live: ObservedAccount, input: AccountInput): readonly ProviderId[] {
  return knownOwners(live, input).filter(
    (provider) => hasFieldsOf(provider, live) && input.fateOf(provider) === 'kept',
  );
}

function countOf({ content }: FieldsClaim): number {
  const { pullSecrets, automount } = content.fields;
  return pullSecrets.length + (automount === undefined ? 0 : 1);
}

function appliesTo(live: ObservedAccount, next: NextAccount): AccountStep['applies'] {
  const { pullSecrets, automount, listMarks, automountMarks, marks } = next;
  const managers = marks.size === 0 ? [] : [managerOf(marks)];
  const isSame = isDeepStrictEqual(
    [live.pullSecrets, live.automount, live.managers],
    [pullSecrets, automount, managers],
  );
  if (isSame) return [];
  const kept = { manager: keptFieldManager, fields: keptFields(live, next) };
  const fields = fieldsOf(
    listMarks.size > 0 ? pullSecrets : undefined,
    automountMarks.size > 0 ? automount : undefined,
  );
  return [
    ...(Object.keys(kept.fields).length > 0 ? [kept] : []),
    ...managers.map((manager) => ({ manager, fields })),
    ...live.managers.filter((each) => !managers.includes(each)).map((manager) => ({ manager, fields: {} })),
  ];
}

/** What stays and is no longer Reeve's gets another manager: the API server removes a field with its last manager. */
function keptFields(live: ObservedAccount, next: NextAccount): JsonObject {
  const { pullSecrets, automount } = next;
  const [keepsList, keepsAutomount] = [mustKeepList(live, next), mustKeepAutomount(live, next)];
  if (!keepsList && !keepsAutomount) return {};
  // An apply removes what it leaves out of the last one.
  return fieldsOf(
    keepsList || live.kept.list ? pullSecrets : undefined,
    keepsAutomount || live.kept.automount ? automount : undefined,
  );
}

function mustKeepList({ pullSecrets: old, owned, shared }: ObservedAccount, next: NextAccount): boolean {
  const { pullSecrets, listMarks } = next;
  if (listMarks.size > 0) return false;
  const isEmpty = pullSecrets.length === 0;
  if (isDeepStrictEqual(pullSecrets, old)) return owned.list && !shared.list && !isEmpty;
  // An empty list takes the field from another manager that would keep our items in it.
  return shared.list || !isEmpty;
}

function mustKeepAutomount({ owned, shared }: ObservedAccount, next: NextAccount): boolean {
  const { automount, automountMarks } = next;
  return automount !== undefined && automountMarks.size === 0 && owned.automount && !shared.automount;
}

/** A provider that is suspended or has an error adds nothing, and is in sync with what it added before. */
function frozenResults({ claims, freezeOf }: AccountInput, next: NextAccount): readonly ObjectResult[] {
  return claims.flatMap((claim) => {
    const freeze = freezeOf(claim.provider);
    if (freeze === undefined) return [];
    const { pullSecrets, automount } = claim.content.fields;
    const isThere =
      pullSecrets.every((item) => next.pullSecrets.includes(item)) &&
      (automount === undefined || automount === next.automount);
    return [isThere ? syncedResult(claim) : failedResult(claim, freeze.reason, freeze.message)];
  });
}

/** Returns whether Reeve has added something to the account for this provider. */
export function hasFieldsOf(provider: ProviderId, live: ObservedAccount): boolean {
  return heldItems(provider, live).length > 0;
}

function heldItems(provider: ProviderId, { marks, pullSecrets }: ObservedAccount): readonly string[] {
  return [...pullSecrets, automountItem].filter((item) => marks.has(markOf(provider, item)));
}
