// Opens the serving pair and the bundle of a replica that shares its authority with the others through a Secret.
import { X509Certificate } from 'node:crypto';
import { KubeError } from '../../base/kube-error.ts';
import { isAborted, abortable, InterruptiblePause, SingleFlight } from '../../base/abort.ts';
import { bundleOf, type AuthorityState } from './authority-state.ts';
import type { ServingPair } from '../files/serving-pair.ts';
import { Backoff } from '../../base/backoff.ts';
import { configurationName } from '../../schema/names.ts';
import { authorityIssuer, type IssuerSettings } from './authority-issuer.ts';
import { AuthorityReplica } from './authority-replica.ts';
import type { ReplicaSettings } from './authority-replica.ts';
import { AuthoritySecret, authoritySecretName } from './authority-secret.ts';
import type { CaBundle, PairSource, CertificateObserver, SecretWatch } from '../ports.ts';
import type { ObjectStore } from '../../base/object-writer.ts';
import { systemClock } from '../../base/clock.ts';

export interface SharedAuthoritySettings extends IssuerSettings, ReplicaSettings {}

interface SharedAuthorityPorts {
  readonly store: ObjectStore;
  readonly watchSecret: SecretWatch;
  readonly observer: CertificateObserver;
  /** Takes an error of the program itself. */
  readonly fail: (error: unknown) => void;
}

/** Only the presence of this object counts, because any user with the right may have written the authorities in it. */
const served = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  name: configurationName,
};
/** Certificates become due without any event: to be renewed, dropped or released. */
const pollMs = 5000;

/** Waits until there is a pair. Rejects with the reason of the signal. */
export async function openSharedAuthority(
  settings: SharedAuthoritySettings,
  ports: SharedAuthorityPorts,
  signal: AbortSignal,
): Promise<PairSource> {
  const authority = new SharedAuthority(settings, ports);
  try {
    return await authority.open(signal);
  } catch (error) {
    await authority.close();
    throw error;
  }
}

class SharedAuthority implements CaBundle {
  readonly #ports: SharedAuthorityPorts;
  readonly #replica: AuthorityReplica;
  readonly #stop = new AbortController();
  readonly #pause = new InterruptiblePause(systemClock);
  readonly #rounds = new SingleFlight<AuthorityState>();
  readonly #first = Promise.withResolvers<ServingPair>();
  readonly #bundleListeners = new Set<() => void>();
  readonly #pairListeners = new Set<(pair: ServingPair) => void>();
  readonly #working: Promise<void>;
  #bundle: string | undefined;
  /** The bundle of the last complete round. */
  #agreed: string | undefined;
  #signer: string | undefined;
  #hasPair = false;
  #settling: NodeJS.Timeout | undefined;

  constructor(settings: SharedAuthoritySettings, ports: SharedAuthorityPorts) {
    this.#ports = ports;
    const { store, observer } = ports;
    this.#replica = new AuthorityReplica(settings, {
      clock: systemClock,
      secret: new AuthoritySecret(store, settings.namespace),
      issuer: authorityIssuer(settings),
      isServed: async (signal) => (await store.read(served, signal)) !== undefined,
      observer: {
        stepped: (kind, cause) => observer.stepped(kind, cause),
        learned: (state) => this.#learn(state),
        renewed: (pair) => this.#renewed(pair),
      },
    });
    // `open` may not be waiting, and then a rejection must not count as unhandled.
    this.#first.promise.catch(() => undefined);
    // The watch only saves time: each round reads the Secret, and there is a round every few seconds.
    ports.watchSecret(settings.namespace, authoritySecretName, () => this.#pause.interrupt());
    this.#working = this.#work().catch((error: unknown) => {
      // Without this rejection, `open` would wait forever.
      this.#first.reject(error);
      ports.fail(error);
    });
  }

  async open(signal: AbortSignal): Promise<PairSource> {
    return {
      pair: await abortable(this.#first.promise, signal),
      bundle: this,
      watch: (apply) => {
        this.#pairListeners.add(apply);
        // The pair may have changed since the server started with it.
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
      // The last agreed bundle is safer than a stored one. A stranger may have written the stored bundle, or it may lack the
      // signer of this process's certificate.
      if (error instanceof KubeError && this.#agreed !== undefined) return this.#agreed;
      throw error;
    }
  }

  confirmed(bundle: string): void {
    const leftMs = this.#replica.confirm(bundle);
    clearTimeout(this.#settling);
    if (leftMs === 0) this.#pause.interrupt();
    // Makes the keeper check the configurations at that time instead of at its next interval.
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
        if (!this.#hasPair) this.#ports.observer.waiting();
      } catch (error) {
        if (isAborted(signal)) return;
        if (!(error instanceof KubeError)) throw error;
        waitMs = backoff.next(error.retryAfterMs);
        this.#ports.observer.notChecked(error);
      }
      await this.#pause.wait(waitMs, signal);
    }
  }

  /** Runs one round at a time: two would sign twice. */
  async #round(signal: AbortSignal): Promise<AuthorityState> {
    const state = await this.#rounds.run(
      '',
      async () => await this.#replica.round(this.#stop.signal),
      signal,
    );
    this.#agreed = bundleOf(state);
    return state;
  }

  #learn(state: AuthorityState): void {
    const { signing } = state;
    if (signing !== undefined && signing.certPem !== this.#signer) {
      const { fingerprint256: fingerprint } = new X509Certificate(signing.certPem);
      const authority = { fingerprint, notAfter: new Date(signing.notAfter) };
      this.#ports.observer.signs(authority, this.#signer === undefined);
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
    this.#ports.observer.issued(pair, !this.#hasPair);
    this.#hasPair = true;
    this.#first.resolve(pair);
    for (const apply of this.#pairListeners) apply(pair);
  }
}
