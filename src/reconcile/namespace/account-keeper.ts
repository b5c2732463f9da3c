// Keeps the fields that policies add to ServiceAccounts of other owners in one namespace.
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { ObservedAccount } from '../../policy/plan/account.ts';
import {
  hasFieldsOf,
  type AccountStep,
  planAccount,
  type AccountPlan,
} from '../../policy/plan/plan-account.ts';
import { failedResult, syncedResult, undesiredResult } from '../../policy/plan/observed.ts';
import type { Desired } from '../../policy/desired/desired.ts';
import {
  serviceAccountType,
  type ObjectKey,
  type ProviderId,
  kindOfProvider,
} from '../../policy/terms/provider-id.ts';
import type { Clock } from '../../base/clock.ts';
import { eventSubject, type EventAnnouncer } from '../events.ts';
import type { Finalizers } from '../provider/provider-writes.ts';
import type { ObjectWriter } from '../../base/object-writer.ts';
import type { ReconcileObserver } from '../ports.ts';
import { RewriteLimit, creationMs, retrying, type StepResult } from './step-executor.ts';
import { classifyWriteError, type WriteError } from './write-error.ts';
import type { FieldsFate } from '../../policy/plan/next-account.ts';
import { isFrozen } from '../../policy/plan/plan.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { Fuse } from '../fuse/fuse.ts';
import type { ObservedAccounts } from '../live/observed-accounts.ts';

interface AccountKeeperOptions extends AccountsPlannerOptions {
  readonly finalizers: Pick<Finalizers, 'holding'>;
  readonly writer: Pick<ObjectWriter, 'apply'>;
  readonly announcer: EventAnnouncer;
  readonly observer: ReconcileObserver;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export class AccountKeeper {
  readonly #options: AccountKeeperOptions;
  readonly #planner: AccountsPlanner;
  readonly #rewriteLimit: RewriteLimit;

  constructor(options: AccountKeeperOptions) {
    this.#options = options;
    this.#planner = new AccountsPlanner(options);
    this.#rewriteLimit = new RewriteLimit(options.clock);
  }

  /** Throws only errors of the program. */
  async keep(
    { namespaceObject, desired }: { readonly namespaceObject: KubeObject; readonly desired: Desired },
    signal: AbortSignal,
  ): Promise<readonly StepResult[]> {
    const { accounts } = this.#options;
    const namespace = nameOf(namespaceObject);
    const keys = this.#planner.keysIn(namespace, desired);
    if (keys.size === 0) return [];
    if (!accounts.isSynced) return unknownAccounts(desired);
    const results: StepResult[] = [];
    for (const key of keys) {
      if (signal.aborted) return [...results, { wrote: false, isOver: true }];
      results.push(...(await this.#keepOne(namespace, key, desired, signal)));
    }
    return results;
  }

  async #keepOne(
    namespace: string,
    key: ObjectKey,
    desired: Desired,
    signal: AbortSignal,
  ): Promise<readonly StepResult[]> {
    let step: AccountStep | undefined;
    try {
      await this.#planner.prepare(signal);
      const plan = this.#planner.plan(namespace, key, desired);
      step = plan.step;
      const others = plan.results.map((outcome): StepResult => ({
        wrote: false,
        outcome,
        ...(outcome.reason === 'NotCreatedYet' && key.endsWith('/default')
          ? { retryMs: creationMs, isTransient: true }
          : {}),
      }));
      return step === undefined ? others : [...others, ...(await this.#carryOut(step, signal))];
    } catch (error) {
      if (signal.aborted) return [{ wrote: false, isOver: true }];
      return this.#failed(step, classifyWriteError(error, 'change'));
    }
  }

  async #carryOut(step: AccountStep, signal: AbortSignal): Promise<readonly StepResult[]> {
    const { namespace, key } = step.live;
    const id = `${namespace}/${key}`;
    const fingerprint = JSON.stringify(step.applies);
    const againMs = this.#rewriteLimit.pauseFor(id, fingerprint);
    if (againMs > 0) return this.#rewriteLimited(step, againMs);
    const joining = step.claims.flatMap(({ provider }) =>
      hasFieldsOf(provider, step.live) ? [] : [provider],
    );
    const isDone = await this.#holding(joining, signal, () => this.#apply(step, signal));
    // A policy was deleted meanwhile, so the plan is outdated.
    if (!isDone) return [{ wrote: false, retryMs: 0, isTransient: true }];
    this.#rewriteLimit.wrote(id, fingerprint);
    this.#announce(step);
    return [{ wrote: true }, ...step.claims.map((claim) => ({ wrote: false, outcome: syncedResult(claim) }))];
  }

  /** Adds the finalizer to each policy before it has fields on an account, so that they are taken back later. */
  async #holding(
    [first, ...rest]: readonly ProviderId[],
    signal: AbortSignal,
    work: () => Promise<void>,
  ): Promise<boolean> {
    if (first === undefined) {
      await work();
      return true;
    }
    let isDone = false;
    await this.#options.finalizers.holding(first, signal, async () => {
      isDone = await this.#holding(rest, signal, work);
    });
    return isDone;
  }

  /** The preconditions limit each apply to the account that was planned for, and keep an apply from creating it. */
  async #apply({ live, applies }: AccountStep, signal: AbortSignal): Promise<void> {
    const { writer, accounts } = this.#options;
    const { namespace, name, uid } = live;
    let now: ObservedAccount = live;
    for (const { manager, fields } of applies) {
      if (Object.keys(fields).length === 0 && !now.managers.includes(manager)) continue;
      const metadata = { namespace, name, uid, resourceVersion: now.resourceVersion };
      const object = { ...serviceAccountType, metadata, ...fields };
      now = accounts.wrote(await writer.apply(object, { force: true, manager, signal }));
    }
  }

  #announce({ live, claims, leaving }: AccountStep): void {
    const { announcer, observer } = this.#options;
    const object = eventSubject({ type: serviceAccountType, ...live }, live.uid);
    for (const { provider } of claims) {
      observer.wrote('update', placeOf(live, provider));
      announcer.wroteFields(provider, object, 'Updated');
    }
    for (const provider of leaving) {
      observer.wrote('release', placeOf(live, provider));
      announcer.wroteFields(provider, object, 'Released');
    }
  }

  #rewriteLimited({ live, claims }: AccountStep, againMs: number): readonly StepResult[] {
    const message = 'another client keeps changing these fields back, so Reeve leaves them alone for a while';
    return claims.map((claim) => {
      this.#options.observer.rewriteLimited(placeOf(live, claim.provider));
      return { wrote: false, outcome: failedResult(claim, 'Contended', message), againMs };
    });
  }

  #failed(step: AccountStep | undefined, error: WriteError): readonly StepResult[] {
    const { accounts } = this.#options;
    switch (error.kind) {
      case 'namespace-terminating':
        return [{ wrote: false, isOver: true }];
      case 'not-found':
        if (step !== undefined) accounts.deleted(step.live, 'own');
        return [{ wrote: false, retryMs: 0, isTransient: true }];
      case 'transient': {
        const message = `the API server could not carry out the request (${error.reason})`;
        return [{ wrote: false, ...retrying(error) }, ...this.#outcomesOf(step, 'ApiError', message)];
      }
      case 'permanent': {
        const retry = error.minDelayMs === undefined ? {} : { retryMs: error.minDelayMs };
        return [{ wrote: false, ...retry }, ...this.#outcomesOf(step, error.reason, error.message)];
      }
      default:
        return error satisfies never;
    }
  }

  #outcomesOf(step: AccountStep | undefined, reason: string, message: string): readonly StepResult[] {
    if (step === undefined) return [];
    const { live, claims, leaving } = step;
    const { key } = live;
    const outcomes = [
      ...claims.map((claim) => failedResult(claim, reason, message)),
      ...leaving.map((provider) => undesiredResult({ provider, key }, reason, `its fields stay: ${message}`)),
    ];
    return outcomes.map((outcome) => {
      this.#options.observer.failed(placeOf(live, outcome.provider), reason);
      return { wrote: false, outcome };
    });
  }
}

function placeOf({ namespace, name }: ObservedAccount, owner: ProviderId) {
  return { namespace, kind: serviceAccountType.kind, name, owner };
}

/** The watch has just begun, or our account has no right to it. */
export function unknownAccounts({ fields }: Desired): readonly StepResult[] {
  const message = 'Reeve cannot watch ServiceAccounts yet: it may have no right to list and watch them';
  return [...fields.values()].flat().map((claim) => ({
    wrote: false,
    outcome: failedResult(claim, 'KindUnavailable', message),
    retryMs: creationMs,
    isTransient: true,
  }));
}

// Plans the fields that policies add to ServiceAccounts of other owners in one namespace.

interface AccountsPlannerOptions {
  readonly accounts: ObservedAccounts;
  readonly cluster: Pick<LiveCluster, 'snapshot'>;
  readonly fuse: Pick<Fuse, 'isPrepared' | 'prepare' | 'verdictOf'>;
}

export class AccountsPlanner {
  readonly #options: AccountsPlannerOptions;

  constructor(options: AccountsPlannerOptions) {
    this.#options = options;
  }

  /** Returns the accounts that policies add fields to, and those that still have such fields. */
  keysIn(namespace: string, desired: Desired): ReadonlySet<ObjectKey> {
    const marked = this.#options.accounts.markedIn(namespace).map(({ key }) => key);
    return new Set([...desired.fields.keys(), ...marked]);
  }

  /** The fuse must know of each policy that is being deleted whether its whole kind is. */
  async prepare(signal: AbortSignal): Promise<void> {
    const { cluster, fuse } = this.#options;
    const deleting = [...cluster.snapshot().providers.values()].flatMap(({ id, isDeleting }) =>
      isDeleting && addsFields(id) ? [id] : [],
    );
    if (!fuse.isPrepared(deleting)) await fuse.prepare(deleting, signal);
  }

  plan(namespace: string, key: ObjectKey, desired: Desired): AccountPlan {
    const { accounts, cluster } = this.#options;
    const snapshot = cluster.snapshot();
    return planAccount({
      live: accounts.get(namespace, key),
      claims: desired.fields.get(key) ?? [],
      whole: desired.claims.get(key)?.[0]?.provider,
      providers: () => [...snapshot.providers.keys()].filter(addsFields),
      freezeOf: (provider) => desired.frozen.get(provider),
      fateOf: (provider) => this.#fateOf(provider, desired),
    });
  }

  /** Taking fields back deletes nothing, so the fuse holds nothing back. What it releases stays, as objects do. */
  #fateOf(provider: ProviderId, desired: Desired): FieldsFate {
    const { cluster, fuse } = this.#options;
    if (isFrozen(provider, { snapshot: cluster.snapshot(), desired })) return 'kept';
    const { kind } = fuse.verdictOf(provider);
    if (kind === 'unknown') return 'kept';
    return kind === 'release' ? 'released' : 'removed';
  }
}

function addsFields(provider: ProviderId): boolean {
  return kindOfProvider(provider) !== 'SecretShare';
}
