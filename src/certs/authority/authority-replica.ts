// A replica of the shared authority: takes the steps that are due, and renews its own certificate.
import type { Clock } from '../../base/clock.ts';
import { KubeError } from '../../base/kube-error.ts';
import { bundleOf, withKeys, type AuthorityState } from './authority-state.ts';
import { nextStep, renewalTime, signerFor } from './authority-steps.ts';
import type { FoundState, Memory, RecoveryCause, Situation, Step } from './authority-steps.ts';
import type { ServingPair } from '../files/serving-pair.ts';
import { Backoff } from '../../base/backoff.ts';
import type { AuthorityIssuer } from './authority-issuer.ts';
import type { AuthoritySecret, FoundSecret } from './authority-secret.ts';

export interface ReplicaSettings {
  /** In milliseconds, as the next one. */
  readonly certLifetime: number;
  readonly caSettling: number;
}

interface ReplicaObserver {
  stepped(kind: Step['kind'], cause: RecoveryCause | undefined): void;
  /** Called when the authorities may have changed. */
  learned(state: AuthorityState): void;
  renewed(pair: ServingPair): void;
}

interface ReplicaPorts {
  readonly secret: Pick<AuthoritySecret, 'read' | 'write'>;
  readonly issuer: AuthorityIssuer;
  /** True when a webhook configuration exists, so API servers may call other replicas. */
  readonly isServed: (signal: AbortSignal) => Promise<boolean>;
  readonly clock: Omit<Clock, 'sleep'>;
  readonly observer: ReplicaObserver;
}

/** Another replica may write first in some rounds, but not in this many. */
const maxSteps = 8;
/** Longer than the interval between two checks of the configurations. */
const confirmationMs = 20_000;
/** Two programs that overwrite each other must slow down. After this quiet time the next recovery is immediate again. */
const quietMs = 300_000;

interface Serving {
  readonly pair: ServingPair;
  readonly signer: string;
  readonly renewAt: number;
}

interface Confirmation {
  readonly bundle: string;
  readonly since: number;
  readonly last: number;
}

export class AuthorityReplica {
  readonly #settings: ReplicaSettings;
  readonly #ports: ReplicaPorts;
  readonly #recoveries: Backoff;
  #state: AuthorityState | undefined;
  #serving: Serving | undefined;
  #confirmation: Confirmation | undefined;
  #unusable: string | undefined;
  #servedAt: number;
  #recoveredAt = Number.NEGATIVE_INFINITY;
  #recoverableAt = Number.NEGATIVE_INFINITY;

  constructor(settings: ReplicaSettings, ports: ReplicaPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#recoveries = new Backoff(ports.clock);
    this.#servedAt = ports.clock.monotonic();
  }

  get pair(): ServingPair | undefined {
    return this.#serving?.pair;
  }

  /** Takes steps until none is due. Rejects with a KubeError. */
  async round(signal: AbortSignal): Promise<AuthorityState> {
    for (let steps = 0; steps < maxSteps; steps += 1) {
      // Takes the time before the read. If another authority starts to sign meanwhile, this certificate ends earlier, not
      // later.
      const now = this.#ports.clock.now().getTime();
      const secret = await this.#read(signal);
      const { found } = secret;
      const step = nextStep(found, await this.#situation(found, now, signal));
      if (step !== undefined) await this.#takeOrRenew(step, secret, now, signal);
      else if (found.kind === 'whole' && (await this.#renew(found.state, now))) return found.state;
    }
    throw new KubeError({ code: 409, reason: 'Conflict', retryable: true });
  }

  /**
   * Notes that both configurations carry this bundle. Returns the milliseconds until a further look would release an authority.
   */
  confirm(bundle: string): number | undefined {
    const now = this.#ports.clock.monotonic();
    const before = this.#confirmation;
    const isSame = before?.bundle === bundle && now - before.last <= confirmationMs;
    this.#confirmation = { bundle, since: isSame ? before.since : now, last: now };
    const state = this.#state;
    if (state?.next === undefined || bundle !== bundleOf(state)) return undefined;
    return Math.max(this.#settings.caSettling - this.#confirmedMs(state), 0);
  }

  /** Notes that a configuration carried another bundle. */
  doubt(): void {
    this.#confirmation = undefined;
  }

  async #read(signal: AbortSignal): Promise<FoundSecret> {
    const secret = await this.#ports.secret.read(signal);
    if (secret.found.kind !== 'whole') return secret;
    const { state } = secret.found;
    const authorities = [state.signing, state.next].map((each) => each?.certPem);
    if (this.#unusable !== undefined && authorities.includes(this.#unusable))
      return { ...secret, found: { kind: 'corrupt' } };
    this.#learn(state);
    return secret;
  }

  async #situation(found: FoundState, now: number, signal: AbortSignal): Promise<Situation> {
    const memory = this.#memory();
    const isStranger = found.kind !== 'whole' && memory.state === undefined;
    return {
      now,
      leafMs: this.#settings.certLifetime,
      settlingMs: this.#settings.caSettling,
      confirmedMs: found.kind === 'whole' ? this.#confirmedMs(found.state) : 0,
      mayBeServed: isStranger && (await this.#ports.isServed(signal)),
      memory,
    };
  }

  #memory(): Memory {
    const [state, serving] = [withoutAuthority(this.#state, this.#unusable), this.#serving];
    const own = serving && { certPem: serving.signer, until: serving.pair.notAfter.getTime() };
    return { ...(state === undefined ? {} : { state }), ...(own === undefined ? {} : { own }) };
  }

  /** The time from the first to the last confirmation of this bundle. */
  #confirmedMs(state: AuthorityState): number {
    const confirmation = this.#confirmation;
    return confirmation?.bundle === bundleOf(state) ? confirmation.last - confirmation.since : 0;
  }

  /** Renews the certificate even when the Secret cannot be written (a missing right, an immutable Secret). */
  async #takeOrRenew(step: Step, secret: FoundSecret, now: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#take(step, secret, signal);
    } catch (error) {
      const { found } = secret;
      const mayRenew = error instanceof KubeError && found.kind === 'whole' && step.kind !== 'restored';
      if (mayRenew && (found.state.signing?.notAfter ?? 0) > now) await this.#renew(found.state, now);
      throw error;
    }
  }

  async #take(step: Step, secret: FoundSecret, signal: AbortSignal): Promise<void> {
    const { issuer, clock, observer } = this.#ports;
    const cause = this.#causeOf(step, secret.found);
    if (cause !== undefined) this.#holdBack();
    const { issue } = step;
    const state =
      issue === undefined
        ? step.state
        : { ...step.state, [issue]: await issuer.authority(clock.now().getTime()) };
    if (!(await this.#ports.secret.write(secret, state, signal))) return;
    if (cause !== undefined) this.#noteRecovery();
    observer.stepped(step.kind, cause);
    this.#learn(state);
  }

  /** Returns undefined for the planned steps in the life of an authority. */
  #causeOf({ kind }: Step, found: FoundState): RecoveryCause | undefined {
    if (kind === 'restored') return 'foreign';
    if (kind !== 'created') return undefined;
    if (found.kind === 'whole') return 'expired';
    return found.kind === 'missing' && this.#state === undefined ? undefined : found.kind;
  }

  #holdBack(): void {
    const retryAfterMs = this.#recoverableAt - this.#ports.clock.monotonic();
    if (retryAfterMs > 0)
      throw new KubeError({ code: 0, reason: 'RecoveredJustNow', retryable: true, retryAfterMs });
  }

  #noteRecovery(): void {
    const now = this.#ports.clock.monotonic();
    if (now - this.#recoveredAt > quietMs) this.#recoveries.reset();
    this.#recoveredAt = now;
    this.#recoverableAt = now + this.#recoveries.next();
  }

  #learn(state: AuthorityState): void {
    this.#state = state;
    this.#ports.observer.learned(state);
  }

  /** Returns false when the signing authority turns out to be unusable. */
  async #renew(state: AuthorityState, now: number): Promise<boolean> {
    const { clock, issuer, observer } = this.#ports;
    const before = this.#serving;
    if (before !== undefined && before.pair.notAfter.getTime() > now) this.#servedAt = clock.monotonic();
    const signer = signerFor(state, clock.monotonic() - this.#servedAt, this.#settings.caSettling);
    if (signer === undefined || (before?.signer === signer.certPem && now < before.renewAt)) return true;
    const pair = await issuer.serving(signer, now);
    this.#unusable = pair === undefined ? signer.certPem : undefined;
    if (pair === undefined) return false;
    const renewAt = renewalTime({ createdAt: now, notAfter: pair.notAfter.getTime() });
    this.#serving = { pair, signer: signer.certPem, renewAt };
    this.#servedAt = clock.monotonic();
    observer.renewed(pair);
    return true;
  }
}

/** Removes an unusable authority, which a stranger wrote, from the trusted ones. */
function withoutAuthority(
  state: AuthorityState | undefined,
  certPem: string | undefined,
): AuthorityState | undefined {
  if (state === undefined || certPem === undefined) return state;
  const retired = state.retired.filter((each) => each.certPem !== certPem);
  const [signing, next] = [state.signing, state.next].map((each) =>
    each?.certPem === certPem ? undefined : each,
  );
  // Nothing else is known, although older authorities may exist.
  if (signing === undefined && next === undefined && retired.length === 0) return undefined;
  return withKeys(signing, next, retired);
}
