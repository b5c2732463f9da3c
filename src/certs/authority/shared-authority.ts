// The serving pair and the bundle of a replica that shares its authority with the others through a Secret.
import { X509Certificate } from 'node:crypto';
import { KubeError } from '../../base/kube-error.ts';
import { isAborted, abortable } from '../../base/abort.ts';
import { bundleOf, type AuthorityState } from './authority-state.ts';
import type { Step } from './authority-steps.ts';
import type { ServingPair } from '../files/serving-pair.ts';
import { Backoff } from '../../kube/watch/backoff.ts';
import type { ObjectWriter } from '../../kube/object-writer.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import type { CertificateMetrics } from '../../observe/certificate-metrics.ts';
import type { Log } from '../../observe/log.ts';
import { configurationName } from '../../registration/wanted-configurations.ts';
import { authorityIssuer, type IssuerSettings } from './authority-issuer.ts';
import { AuthorityReplica, type RecoveryCause, type ReplicaSettings } from './authority-replica.ts';
import { AuthoritySecret, authoritySecretName, authoritySecretTarget } from './authority-secret.ts';
import type { CaBundle } from './ca-bundle.ts';
import { systemClock } from '../../base/clock.ts';
import type { PairSource } from '../../app/serving-pair.ts';
import type { Watches } from '../../app/watches.ts';
import { InterruptiblePause } from '../../base/pause.ts';

export interface SharedAuthoritySettings extends IssuerSettings, ReplicaSettings {}

export interface SharedAuthorityContext {
  readonly writer: ObjectWriter;
  readonly watches: Watches;
  readonly log: Log;
  readonly metrics: CertificateMetrics;
  /** Told of an error of the program itself. */
  readonly fail: (error: unknown) => void;
}

/** Of it, no more than that it is there: the authorities in it may be anybody's. */
const served = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  name: configurationName,
};
/** Times pass without anybody's news: those to renew, to drop and to release. */
const pollMs = 5000;

/** Waits until there is a pair. Rejects with the reason of the signal. */
export async function openSharedAuthority(
  settings: SharedAuthoritySettings,
  context: SharedAuthorityContext,
  signal: AbortSignal,
): Promise<PairSource> {
  const authority = new SharedAuthority(settings, context);
  try {
    return await authority.open(signal);
  } catch (error) {
    await authority.close();
    throw error;
  }
}

class SharedAuthority implements CaBundle {
  readonly #context: SharedAuthorityContext;
  readonly #replica: AuthorityReplica;
  readonly #stop = new AbortController();
  readonly #pause = new InterruptiblePause(systemClock);
  readonly #rounds = new SingleFlight<AuthorityState>();
  readonly #first = Promise.withResolvers<ServingPair>();
  readonly #bundleListeners = new Set<() => void>();
  readonly #pairListeners = new Set<(pair: ServingPair) => void>();
  readonly #working: Promise<void>;
  #bundle: string | undefined;
  /** Of the last round that came to its end. */
  #agreed: string | undefined;
  #signer: string | undefined;
  #hasPair = false;
  #settling: NodeJS.Timeout | undefined;

  constructor(settings: SharedAuthoritySettings, context: SharedAuthorityContext) {
    this.#context = context;
    const { writer } = context;
    this.#replica = new AuthorityReplica(settings, {
      clock: systemClock,
      secret: new AuthoritySecret(writer, settings.namespace),
      issuer: authorityIssuer(settings),
      isServed: async (signal) => (await writer.read(served, { signal })) !== undefined,
      observer: {
        stepped: (kind, cause) => this.#tell(kind, cause),
        learned: (state) => this.#learn(state),
        renewed: (pair) => this.#renewed(pair),
      },
    });
    // Nobody may be waiting for it.
    this.#first.promise.catch(() => undefined);
    const wake = (): void => this.#pause.interrupt();
    const target = authoritySecretTarget(settings.namespace);
    // Not needed to be ready: what it tells is read anew, and looked for from time to time as well.
    context.watches.start(target, { replaced: wake, changed: wake, removed: wake }, true);
    this.#working = this.#work().catch((error: unknown) => {
      // Whoever waits for a pair does not hear of it otherwise.
      this.#first.reject(error);
      context.fail(error);
    });
  }

  async open(signal: AbortSignal): Promise<PairSource> {
    return {
      pair: await abortable(this.#first.promise, signal),
      bundle: this,
      watch: (apply) => {
        this.#pairListeners.add(apply);
        // It may have changed since the server was made with it.
        if (this.#replica.pair !== undefined) apply(this.#replica.pair);
      },
      close: async () => await this.close(),
    };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#settling);
    await this.#working;
  }

  async wanted(signal: AbortSignal): Promise<string | undefined> {
    try {
      return bundleOf(await this.#round(signal));
    } catch (error) {
      // What was agreed on last is better than whatever somebody may have put into the configurations meanwhile; what was
      // merely found may lack the authority that this very process serves by.
      if (error instanceof KubeError && this.#agreed !== undefined) return this.#agreed;
      throw error;
    }
  }

  confirmed(bundle: string): void {
    const leftMs = this.#replica.confirm(bundle);
    clearTimeout(this.#settling);
    if (leftMs === 0) this.#pause.interrupt();
    // Whoever keeps the configurations looks again then, rather than when the next look is due.
    else if (leftMs !== undefined) this.#settling = setTimeout(() => this.#tellOfBundle(), leftMs).unref();
  }

  doubted(): void {
    this.#replica.doubt();
    clearTimeout(this.#settling);
  }

  subscribe(listener: () => void): () => void {
    this.#bundleListeners.add(listener);
    return () => this.#bundleListeners.delete(listener);
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop;
    const backoff = new Backoff(systemClock);
    while (!isAborted(signal)) {
      let waitMs = pollMs;
      try {
        await this.#round(signal);
        backoff.reset();
        if (!this.#hasPair)
          this.#context.log.info('no certificate authority may sign yet', { secret: authoritySecretName });
      } catch (error) {
        if (isAborted(signal)) return;
        if (!(error instanceof KubeError)) throw error;
        const { code, reason, retryAfterMs } = error;
        waitMs = backoff.next(retryAfterMs);
        this.#context.log.warn('certificate authority not checked', {
          code,
          reason,
          secret: authoritySecretName,
          // Somebody has made it immutable.
          ...(code === 422 ? { remedy: 'delete the Secret' } : {}),
        });
      }
      await this.#pause.wait(waitMs, signal);
    }
  }

  /** One at a time: two at once would sign twice. */
  async #round(signal: AbortSignal): Promise<AuthorityState> {
    const state = await this.#rounds.run(
      '',
      async () => await this.#replica.round(this.#stop.signal),
      signal,
    );
    this.#agreed = bundleOf(state);
    return state;
  }

  #tell(kind: Step['kind'], cause: RecoveryCause | undefined): void {
    const { log, metrics } = this.#context;
    const secret = authoritySecretName;
    if (cause === undefined) {
      log.info(`certificate authority ${kind}`, { secret });
      return;
    }
    metrics.recovered(cause);
    log.warn('certificate authority replaced', { secret, cause });
  }

  #learn(state: AuthorityState): void {
    const { log, metrics } = this.#context;
    const { signing } = state;
    if (signing !== undefined && signing.certPem !== this.#signer) {
      const notAfter = new Date(signing.notAfter);
      const { fingerprint256: fingerprint } = new X509Certificate(signing.certPem);
      log.info('certificate authority signs', { fingerprint, notAfter: notAfter.toISOString() });
      metrics.expires('authority', notAfter);
      if (this.#signer !== undefined) metrics.renewed('authority');
      this.#signer = signing.certPem;
    }
    const bundle = bundleOf(state);
    if (bundle === this.#bundle) return;
    this.#bundle = bundle;
    this.#tellOfBundle();
  }

  #tellOfBundle(): void {
    for (const listener of this.#bundleListeners) listener();
  }

  #renewed(pair: ServingPair): void {
    const { log, metrics } = this.#context;
    const { notAfter, fingerprint } = pair;
    log.info('serving certificate made', { fingerprint, notAfter: notAfter.toISOString() });
    metrics.expires('serving', notAfter);
    if (this.#hasPair) metrics.renewed('serving');
    this.#hasPair = true;
    this.#first.resolve(pair);
    for (const apply of this.#pairListeners) apply(pair);
  }
}
