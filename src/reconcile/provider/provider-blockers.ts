// Finds what no namespace can report: a missing source, right or webhook, and deletions that the fuse holds.
import { unavailable, type CopyState } from '../../policy/plan/copy.ts';
import { meantRole } from '../../policy/authors/no-effect.ts';
import {
  type MissingRights,
  type RightsRule,
  ownRights,
  type OwnRights,
} from '../../policy/authors/needed-rights.ts';
import type { ProviderId, ProviderState } from '../../policy/terms/provider-id.ts';
import { blockersOf, type Blocker, type BlockerFacts } from '../../policy/status/provider-conditions.ts';
import { problemsText, type LoadedProvider } from '../../state/stored-provider.ts';
import { heldText, type HeldDeletions } from '../../policy/plan/fuse.ts';
import type { Fuse } from '../fuse/fuse.ts';
import type { EventAnnouncer } from '../events.ts';
import type { ProviderLedger } from '../ledger.ts';
import type { ReconcileContext, SelfReviewer } from '../ports.ts';
import type { Sources } from '../live/sources.ts';
import { partsWithoutHook, type HookMode } from '../../policy/compile/snapshot.ts';
import { clipped } from '../../base/text.ts';
import { classifyWriteError } from '../namespace/write-error.ts';
import { type ProviderDefinition, policyIn, shareIn } from '../../policy/compile/load-provider.ts';
import type { Dispatcher } from '../dispatcher.ts';

interface BlockerParts {
  readonly sources: Sources;
  readonly ledger: ProviderLedger;
  readonly rightsMonitor: OwnRightsMonitor;
  readonly secretsRbacFailurePolicy: HookMode | undefined;
  readonly announcer: EventAnnouncer;
}

/** The delay if the error names none. */
const defaultRetryMs = 1000;
const invalid = 'Invalid';
/** A note of an Event has at most 1 kB: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
const maxProblemsLength = 900;

export class ProviderBlockers {
  readonly #context: ReconcileContext;
  readonly #parts: BlockerParts;
  /** The announced reasons of each provider. `Invalid` includes its message. */
  readonly #announced = new Map<ProviderId, ReadonlySet<string>>();

  constructor(context: ReconcileContext, parts: BlockerParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Returns the facts for the status. Rejects with a KubeError. */
  async of(loaded: LoadedProvider, signal: AbortSignal): Promise<BlockerFacts> {
    const [source, missingRights] = await Promise.all([
      this.#sourceOf(loaded, signal),
      this.#missingRightsOf(loaded, signal),
    ]);
    const policy = policyIn(loaded.definition)?.compiled;
    const { secretsRbacFailurePolicy: hookMode = 'Ignore' } = this.#parts;
    const unjudged = policy === undefined ? [] : partsWithoutHook(policy, hookMode);
    const facts = { source, missingRights, partsWithoutHook: unjudged };
    this.#announce(loaded.state.id, [...invalidity(loaded), ...blockersOf(facts)]);
    return facts;
  }

  forget(provider: ProviderId): void {
    this.#announced.delete(provider);
    this.#parts.rightsMonitor.forget(provider);
  }

  clear(): void {
    this.#announced.clear();
    this.#parts.rightsMonitor.clear();
  }

  /** Announces each blocker once, at its beginning. */
  #announce(provider: ProviderId, blockers: readonly Blocker[]): void {
    const { observer } = this.#context;
    const { announcer } = this.#parts;
    const before = this.#announced.get(provider);
    this.#announced.set(provider, new Set(blockers.map(announcedAs)));
    for (const blocker of blockers) {
      if (before?.has(announcedAs(blocker)) === true) continue;
      announcer.provider(provider, blocker.reason, blocker.message);
      observer.blocked(provider, blocker.reason);
    }
  }

  /** Returns none for a provider that is suspended or being deleted, because it needs no rights. */
  async #missingRightsOf(
    { definition, state }: LoadedProvider,
    signal: AbortSignal,
  ): Promise<readonly MissingRights[]> {
    if (definition === undefined || state.isDeleting || state.isSuspended) return [];
    const { cluster } = this.#context;
    const { rightsMonitor, ledger } = this.#parts;
    const failures = ledger.tallyOf(state.id).failures();
    const wasRefused = failures.some(({ reason }) => reason === 'InsufficientPermissions');
    const missing = await rightsMonitor.missing(state.id, definition, wasRefused, signal);
    return missing.map((rule) => {
      const { purpose, name = '' } = rule;
      const meant = purpose === 'bind' ? meantRole(name, state.id, cluster.snapshot()) : undefined;
      return { ...rule, ...(meant === undefined ? {} : { meant }) };
    });
  }

  async #sourceOf(
    { definition, state }: LoadedProvider,
    signal: AbortSignal,
  ): Promise<CopyState | undefined> {
    const share = shareIn(definition)?.compiled;
    if (share === undefined) return undefined;
    const { providerQueue } = this.#context;
    const { sources } = this.#parts;
    if (sources.copyStateOf(share).kind !== 'unread') return sources.copyStateOf(share);
    try {
      await sources.read(share, signal);
      return sources.copyStateOf(share);
    } catch (error) {
      const readError = classifyWriteError(error, 'change');
      if (readError.kind !== 'permanent') throw error;
      providerQueue.addAfter(state.id, readError.minDelayMs ?? defaultRetryMs);
      return unavailable('SourceUnreadable', readError.message);
    }
  }
}

/** Announces a stored version that does not load, until its problems change. Its condition says the same. */
function invalidity({ state, problems }: LoadedProvider): readonly Blocker[] {
  if (state.isValid || problems.length === 0) return [];
  const kept = 'its objects stay as they are, until a version that loads is written';
  return [{ reason: invalid, message: `${clipped(problemsText(problems), maxProblemsLength)}; ${kept}` }];
}

function announcedAs({ reason, message }: Blocker): string {
  return reason === invalid ? `${reason}: ${message}` : reason;
}

// Finds the rights that our own account lacks for each provider, and asks again from time to time.

interface Answer {
  readonly isYes: boolean;
  readonly at: number;
}

interface Checked {
  readonly definition: ProviderDefinition;
  /** The rights that the definition needs. */
  readonly needed: readonly OwnRights[];
  readonly missing: readonly OwnRights[];
}

/** The highest age of an answer for a provider that has just changed. Answers expire, because nothing reports new rights. */
const maxAgeChangedMs = 2000;
/** The interval for a provider with a missing right or a refused write. */
const recheckMs = 15_000;
/** The highest age for all other providers. They are checked again with every resync. */
const maxAgeMs = 300_000;
const maxAnswers = 10_000;

export class OwnRightsMonitor {
  readonly #context: ReconcileContext;
  readonly #selfReviewer: SelfReviewer;
  readonly #dispatcher: Dispatcher;
  readonly #answers = new Map<string, Answer>();
  readonly #checked = new Map<ProviderId, Checked>();

  constructor(context: ReconcileContext, selfReviewer: SelfReviewer, dispatcher: Dispatcher) {
    this.#context = context;
    this.#selfReviewer = selfReviewer;
    this.#dispatcher = dispatcher;
  }

  /** Returns the missing rights. Without an answer, the last answer counts, so that no status claims more than is known. */
  async missing(
    provider: ProviderId,
    definition: ProviderDefinition,
    wasRefused: boolean,
    signal: AbortSignal,
  ): Promise<readonly OwnRights[]> {
    const { providerQueue } = this.#context;
    const last = this.#checked.get(provider);
    const isDoubtful = wasRefused || (last?.missing.length ?? 0) > 0;
    const needed = this.#neededFor(definition, isDoubtful ? undefined : last);
    const oldestMs =
      last?.definition !== definition ? maxAgeChangedMs : isDoubtful ? recheckMs - maxAgeChangedMs : maxAgeMs;
    const rules = await Promise.all(needed.map((rule) => this.#lacking(rule, oldestMs, signal)));
    const missing = rules.filter(({ verbs }) => verbs.length > 0);
    this.#checked.set(provider, { definition, needed, missing });
    if (missing.length > 0 || wasRefused) providerQueue.addAfter(provider, recheckMs);
    if (last !== undefined && countOf(missing) < countOf(last.missing))
      this.#dispatcher.enqueueProvider(provider);
    return missing;
  }

  /** Returns the needed rights. The resource name of a kind is a guess until the API server has answered. */
  #neededFor(definition: ProviderDefinition, certain: Checked | undefined): readonly OwnRights[] {
    return certain?.definition === definition ? certain.needed : ownRights(definition, this.#context.install);
  }

  forget(provider: ProviderId): void {
    this.#checked.delete(provider);
  }

  clear(): void {
    this.#checked.clear();
    this.#answers.clear();
  }

  /** Returns the rule with only the verbs that our account may not use. */
  async #lacking(rule: OwnRights, oldestMs: number, signal: AbortSignal): Promise<OwnRights> {
    const answers = await Promise.all(
      rule.verbs.map(async (verb) => await this.#may(verb, rule, oldestMs, signal)),
    );
    return { ...rule, verbs: rule.verbs.filter((_, index) => answers[index] === false) };
  }

  /** Returns undefined for a right that was never answered. */
  async #may(
    verb: string,
    { group, resource, name, namespace }: RightsRule,
    oldestMs: number,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const { clock } = this.#context;
    const key = JSON.stringify([verb, group, resource, name, namespace]);
    const known = this.#answers.get(key);
    const now = clock.monotonic();
    if (known !== undefined && now - known.at < oldestMs) return known.isYes;
    const right = {
      verb,
      group,
      resource,
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
    };
    const answer = await this.#selfReviewer.mayDo(right, signal);
    if (answer === 'unknown') return known?.isYes;
    if (this.#answers.size >= maxAnswers) this.#answers.clear();
    this.#answers.set(key, { isYes: answer === 'yes', at: now });
    return answer === 'yes';
  }
}

function countOf(rules: readonly OwnRights[]): number {
  return rules.reduce((count, { verbs }) => count + verbs.length, 0);
}

// Announces the deletions that the fuse holds: at the beginning, and when their number has settled.

export class HeldObjects {
  readonly #context: ReconcileContext;
  readonly #fuse: Fuse;
  readonly #ledger: ProviderLedger;
  readonly #announcer: EventAnnouncer;
  /** The announced number of each provider. */
  readonly #announced = new Map<ProviderId, number>();

  constructor(context: ReconcileContext, fuse: Fuse, ledger: ProviderLedger, announcer: EventAnnouncer) {
    this.#context = context;
    this.#fuse = fuse;
    this.#ledger = ledger;
    this.#announcer = announcer;
  }

  /** Returns the deletions that the fuse holds. None for a suspended provider, because it keeps all its objects. */
  of(state: ProviderState): HeldDeletions | undefined {
    const { observer } = this.#context;
    const { id, isDeleting, isSuspended } = state;
    const held = isDeleting || isSuspended ? undefined : this.#fuse.heldBy(state);
    if (held === undefined) {
      this.#announced.delete(id);
      return undefined;
    }
    const announced = this.#announced.get(id);
    const isSettled = this.#ledger.waiting(id) === undefined;
    if (announced === undefined || (isSettled && announced !== held.count)) {
      this.#announced.set(id, held.count);
      observer.deletionsHeld(id, held.count, held.limit);
      this.#announcer.providerLater(id, 'TooManyDeletions', heldText(held));
    }
    return held;
  }

  forget(provider: ProviderId): void {
    this.#announced.delete(provider);
  }

  clear(): void {
    this.#announced.clear();
  }
}
