// Plans the fields of ServiceAccounts that Reeve does not own: the fields that providers add, and those that Reeve removes.
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../base/json.ts';
import type { StringMap } from '../../base/metadata.ts';
import { fieldsAnnotation, fieldsManager, keptFieldManager } from '../../schema/names.ts';
import type { FieldsClaim, Freeze } from '../desired/desired.ts';
import { compareProviders, copiesOf, type ProviderId } from '../terms/provider-id.ts';
import {
  annotationOf,
  automountItem,
  fieldsOf,
  hasFieldsOf,
  heldItems,
  isMarked,
  knownOwners,
  markOf,
  maxItems,
  pullSecretItem,
  type ObservedAccount,
} from './account.ts';
import {
  conflictResult,
  failedResult,
  defaultNotCreated,
  isDefaultAccount,
  syncedResult,
  terminatingText,
  type ObjectResult,
} from './observed.ts';
import type { PlanInput } from './plan-input.ts';

/** The fate of fields that a provider no longer wants. `released`: they stay, and Reeve no longer owns them. */
export type FieldsFate = 'kept' | 'released' | 'removed';

interface AccountInput {
  readonly live: ObservedAccount | undefined;
  /** The claims of providers to fields of this account. */
  readonly claims: readonly FieldsClaim[];
  /** The provider that wants the account as a whole. */
  readonly whole: ProviderId | undefined;
  /** All known policies and bindings. */
  readonly providers: () => readonly ProviderId[];
  readonly freezeOf: (provider: ProviderId) => Freeze | undefined;
  readonly fateOf: (provider: ProviderId) => FieldsFate;
}

interface FieldsApply {
  readonly manager: string;
  readonly fields: JsonObject;
  readonly annotations?: StringMap;
}

export interface AccountStep {
  readonly kind: 'fields';
  readonly live: ObservedAccount;
  /** In this order. An apply without fields removes the fields that only its manager owns. */
  readonly applies: readonly FieldsApply[];
  /** The claims that the step fulfills. */
  readonly claims: readonly FieldsClaim[];
  /** The providers whose fields are removed or released. */
  readonly leaving: readonly ProviderId[];
}

export interface AccountPlan {
  /** Results of the claims that need no step. */
  readonly results: readonly ObjectResult[];
  readonly step: AccountStep | undefined;
}

/** Plans the accounts that providers add fields to, and those that still have such fields. */
export function planAccounts(
  { accounts, desired, snapshot }: PlanInput,
  fateOf: AccountInput['fateOf'],
): readonly AccountPlan[] {
  if (accounts === undefined)
    return [{ results: [...desired.fields.values()].flat().map(unknownAccount), step: undefined }];
  const keys = new Set([...desired.fields.keys(), ...accounts.marked.map(({ key }) => key)]);
  return [...keys].map((key) =>
    planAccount({
      live: accounts.liveOf(key),
      claims: desired.fields.get(key) ?? [],
      whole: desired.claims.get(key)?.[0]?.provider,
      providers: () => [...snapshot.providers.keys()].filter(addsFields),
      freezeOf: (provider) => desired.frozen.get(provider),
      fateOf,
    }),
  );
}

/** A share provides copies alone. */
export function addsFields(provider: ProviderId): boolean {
  return copiesOf(provider) === undefined;
}

/** Happens when the watch has just begun, or when Reeve's account lacks the right to it. */
function unknownAccount(claim: FieldsClaim): ObjectResult {
  const message = 'Reeve cannot watch ServiceAccounts yet: it may have no right to list and watch them';
  return { ...failedResult(claim, 'KindUnavailable', message), isEarly: true };
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
  return { results, step: { kind: 'fields', live, applies, claims: fulfilled, leaving: [...next.leaving] } };
}

function notCreatedYet(claim: FieldsClaim): ObjectResult {
  if (isDefaultAccount(claim.type, claim.name)) return defaultNotCreated(claim, 'adds fields to it');
  const message =
    'no ServiceAccount of this name exists yet, and Reeve only adds fields to it: create it, or provide it in contents.resources';
  return failedResult(claim, 'NotCreatedYet', message);
}

interface Wishes {
  readonly active: readonly FieldsClaim[];
  /** Results of the claims that are left out. */
  readonly results: readonly ObjectResult[];
  /** The providers whose fields stay without marks, because the marks have no room. */
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

/** Gives room to providers in their order, so that a tenant's suspended binding takes none from a policy. */
function withinRoom(running: readonly FieldsClaim[], input: AccountInput, live: ObservedAccount): Wishes {
  const active: FieldsClaim[] = [];
  const results: ObjectResult[] = [];
  const released = new Set<ProviderId>();
  const providers = [...running.map((claim) => claim.provider), ...keptOwners(live, input)];
  let items = 0;
  for (const provider of [...new Set(providers)].sort(compareProviders)) {
    const claim = running.find((each) => each.provider === provider);
    const count = claim === undefined ? heldItems(provider, live).length : countOf(claim);
    const fits = items + count <= maxItems;
    if (fits) items += count;
    if (claim === undefined) {
      if (!fits) released.add(provider);
    } else if (fits) active.push(claim);
    else {
      const message = `all policies together may add ${maxItems} fields to one ServiceAccount, and these are more`;
      results.push(failedResult(claim, 'TooManyPullSecrets', message));
    }
  }
  return { active, results, released };
}

function keptOwners(live: ObservedAccount, input: AccountInput): readonly ProviderId[] {
  return knownOwners(live, input.claims, input.providers).filter(
    (provider) => hasFieldsOf(provider, live) && input.fateOf(provider) === 'kept',
  );
}

function countOf({ content }: FieldsClaim): number {
  const { pullSecrets, automount } = content.fields;
  return pullSecrets.length + (automount === undefined ? 0 : 1);
}

function appliesTo(live: ObservedAccount, next: NextAccount): AccountStep['applies'] {
  if (isAsPlanned(live, next)) return [];
  const { pullSecrets, automount, listMarks, automountMarks, marks } = next;
  const kept = { manager: keptFieldManager, fields: keptFields(live, next) };
  const fields = fieldsOf(
    listMarks.size > 0 ? pullSecrets : undefined,
    automountMarks.size > 0 ? automount : undefined,
  );
  const annotations = { [fieldsAnnotation]: annotationOf(marks) };
  const others = live.managers.filter((each) => marks.size === 0 || each !== fieldsManager);
  return [
    ...(Object.keys(kept.fields).length > 0 ? [kept] : []),
    ...(marks.size > 0 ? [{ manager: fieldsManager, fields, annotations }] : []),
    ...others.map((manager) => ({ manager, fields: {} })),
  ];
}

/** Also compares the ownership. A user who changes a field or the annotation takes it from the manager of Reeve. */
function isAsPlanned(live: ObservedAccount, next: NextAccount): boolean {
  const { pullSecrets, automount, listMarks, automountMarks, marks } = next;
  const managers = marks.size === 0 ? [] : [fieldsManager];
  const isSame = isDeepStrictEqual(
    [live.pullSecrets, live.automount, live.managers],
    [pullSecrets, automount, managers],
  );
  if (!isSame || marks.size === 0) return isSame;
  const ownsAll = live.owned.list === listMarks.size > 0 && live.owned.automount === automountMarks.size > 0;
  return ownsAll && live.isRecorded && isDeepStrictEqual(live.marks, marks);
}

/** Gives the fields that stay to another manager, because the API server removes a field with its last manager. */
function keptFields(live: ObservedAccount, next: NextAccount): JsonObject {
  const { pullSecrets, automount } = next;
  const [keepsList, keepsAutomount] = [mustKeepList(live, next), mustKeepAutomount(live, next)];
  if (!keepsList && !keepsAutomount) return {};
  // An apply removes the fields of the last one that it leaves out.
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
  // An empty list takes the field from another manager, which would otherwise keep our items.
  return shared.list || !isEmpty;
}

function mustKeepAutomount({ owned, shared }: ObservedAccount, next: NextAccount): boolean {
  const { automount, automountMarks } = next;
  return automount !== undefined && automountMarks.size === 0 && owned.automount && !shared.automount;
}

/** A provider that is suspended or has an error adds nothing. The fields that it added before are in sync. */
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

/** The account after the plan, and the marks of Reeve in it. */
class NextAccount {
  readonly pullSecrets: string[] = [];
  automount: boolean | undefined;
  readonly listMarks = new Set<string>();
  readonly automountMarks = new Set<string>();
  readonly leaving = new Set<ProviderId>();
  readonly #live: ObservedAccount;
  readonly #active: readonly FieldsClaim[];
  readonly #fateOf: AccountInput['fateOf'];
  readonly #known: readonly ProviderId[];

  constructor(live: ObservedAccount, active: readonly FieldsClaim[], input: AccountInput) {
    this.#live = live;
    this.#active = active;
    this.#fateOf = input.fateOf;
    this.#known = knownOwners(live, input.claims, input.providers);
    this.automount = live.automount;
    this.#planList();
    this.#planAutomount();
  }

  get marks(): ReadonlySet<string> {
    return this.listMarks.union(this.automountMarks);
  }

  /** Returns the conflict of a claim whose value for automountServiceAccountToken is not the one that wins. */
  lost(claim: FieldsClaim): ObjectResult | undefined {
    const { automount } = claim.content.fields;
    if (automount === undefined || automount === this.automount) return undefined;
    const winner = this.#active.find(({ content }) => content.fields.automount === this.automount);
    const who = winner?.provider ?? 'a suspended policy';
    const message = `${who} sets automountServiceAccountToken to false, which wins over true; its imagePullSecrets are added`;
    return conflictResult(claim, 'ProvidedByAnother', message);
  }

  #planList(): void {
    const { pullSecrets, isListApplied } = this.#live;
    for (const name of pullSecrets) {
      const item = pullSecretItem(name);
      const owners = isListApplied ? [] : this.#ownersOf(item);
      const staying = owners.length === 0 ? [] : [...this.#wantedBy(name), ...this.#kept(owners)];
      for (const provider of staying) this.listMarks.add(markOf(provider, item));
      // An item without an owner belongs to another user, even if a policy wants the same item.
      if (owners.length === 0 || staying.length > 0 || this.#isReleased(owners)) this.pullSecrets.push(name);
      this.#leave(owners, staying);
    }
    for (const { provider, content } of this.#active)
      for (const name of content.fields.pullSecrets) {
        if (pullSecrets.includes(name)) continue;
        if (!this.pullSecrets.includes(name)) this.pullSecrets.push(name);
        this.listMarks.add(markOf(provider, pullSecretItem(name)));
      }
  }

  /** If providers disagree, the token is not mounted, because that is safer. */
  #planAutomount(): void {
    const owners = this.#ownersOf(automountItem);
    const kept = this.#kept(owners);
    const values = this.#active.map(({ content }) => content.fields.automount);
    if (kept.length > 0) values.push(this.#live.automount);
    const winner = [false, true].find((value) => values.includes(value));
    const isTheirs = owners.length === 0 && winner === this.#live.automount;
    const wanting = this.#active.filter(({ content }) => content.fields.automount === winner);
    const staying =
      winner === undefined || isTheirs
        ? []
        : [...wanting.map(({ provider }) => provider), ...(winner === this.#live.automount ? kept : [])];
    for (const provider of staying) this.automountMarks.add(markOf(provider, automountItem));
    if (winner !== undefined) this.automount = winner;
    else if (owners.length > 0 && !this.#isReleased(owners)) this.automount = undefined;
    this.#leave(owners, staying);
  }

  #ownersOf(item: string): readonly ProviderId[] {
    return this.#known.filter((provider) => isMarked(this.#live, provider, item));
  }

  #wantedBy(name: string): readonly ProviderId[] {
    return this.#active.flatMap(({ provider, content }) =>
      content.fields.pullSecrets.includes(name) ? [provider] : [],
    );
  }

  #kept(owners: readonly ProviderId[]): readonly ProviderId[] {
    return owners.filter((provider) => this.#fateOf(provider) === 'kept');
  }

  #isReleased(owners: readonly ProviderId[]): boolean {
    return owners.some((provider) => this.#fateOf(provider) === 'released');
  }

  #leave(owners: readonly ProviderId[], staying: readonly ProviderId[]): void {
    for (const provider of owners) if (!staying.includes(provider)) this.leaving.add(provider);
  }
}
