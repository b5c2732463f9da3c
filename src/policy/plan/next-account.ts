// Says what the two fields of a ServiceAccount will be, and for which providers Reeve adds to them.
import type { Freeze, FieldsClaim } from '../desired/desired.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import { automountItem, markOf, type ObservedAccount } from './account.ts';
import { conflictResult, type ObjectResult } from './observed.ts';

/** What happens to fields that a provider no longer wants. `released`: they stay, and are no longer Reeve's. */
export type FieldsFate = 'kept' | 'released' | 'removed';

export interface AccountInput {
  readonly live: ObservedAccount | undefined;
  /** What providers want of this account. */
  readonly claims: readonly FieldsClaim[];
  /** The provider that wants the account as a whole. */
  readonly whole: ProviderId | undefined;
  /** All known policies and bindings. */
  readonly providers: () => readonly ProviderId[];
  readonly freezeOf: (provider: ProviderId) => Freeze | undefined;
  readonly fateOf: (provider: ProviderId) => FieldsFate;
}

/** What the account has after the plan, and the marks of what Reeve has added then. */
export class NextAccount {
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
    this.#known = knownOwners(live, input);
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
    for (const item of pullSecrets) {
      const owners = isListApplied ? [] : this.#ownersOf(item);
      const staying = owners.length === 0 ? [] : [...this.#wantedBy(item), ...this.#kept(owners)];
      for (const provider of staying) this.listMarks.add(markOf(provider, item));
      // An item without an owner belongs to another user, also if a policy wants the same.
      if (owners.length === 0 || staying.length > 0 || this.#isReleased(owners)) this.pullSecrets.push(item);
      this.#leave(owners, staying);
    }
    for (const { provider, content } of this.#active)
      for (const item of content.fields.pullSecrets) {
        if (pullSecrets.includes(item)) continue;
        if (!this.pullSecrets.includes(item)) this.pullSecrets.push(item);
        this.listMarks.add(markOf(provider, item));
      }
  }

  /** A token that is not mounted is the safer end of a contradiction. */
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
    const { marks } = this.#live;
    return marks.size === 0 ? [] : this.#known.filter((provider) => marks.has(markOf(provider, item)));
  }

  #wantedBy(item: string): readonly ProviderId[] {
    return this.#active.flatMap(({ provider, content }) =>
      content.fields.pullSecrets.includes(item) ? [provider] : [],
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

/** Mostly those that want fields now explain all marks, so that the others need not be tried. */
export function knownOwners(
  { marks, pullSecrets }: ObservedAccount,
  input: AccountInput,
): readonly ProviderId[] {
  if (marks.size === 0) return [];
  const wanting = input.claims.map(({ provider }) => provider);
  const items = [...pullSecrets, automountItem];
  const explained = new Set(wanting.flatMap((provider) => items.map((item) => markOf(provider, item))));
  return marks.isSubsetOf(explained) ? wanting : [...new Set([...wanting, ...input.providers()])];
}
