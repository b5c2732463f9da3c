// Simulates the cluster of the shared authority in virtual time: a Secret, and API servers that learn a bundle late.
import { KubeError } from '../../src/base/kube-error.ts';
import { bundleOf, type AuthorityState } from '../../src/certs/authority/authority-state.ts';
import type { FoundState } from '../../src/certs/authority/authority-steps.ts';
import { AuthorityReplica } from '../../src/certs/authority/authority-replica.ts';
import type { FoundSecret } from '../../src/certs/authority/authority-secret.ts';
import { VirtualClock } from './virtual-clock.ts';

export const settings = { certLifetime: 360_000, caSettling: 20_000, caLifetime: 1_080_000 };
/** Delays in ms. API servers must learn a bundle within the settling time. */
const maxDelays = { lag: 19_000, news: 3000, latency: 300 };
const pollMs = 5000;
const never = new AbortController().signal;
const begin = Date.parse('2026-06-01T12:00:00Z');

interface Versioned<T> {
  readonly version: number;
  readonly value: T;
}

export interface Replica {
  readonly name: string;
  readonly authority: AuthorityReplica;
  /** The authority that signed the serving certificate. */
  signer: string;
  isAlive: boolean;
  /** True if no request of the replica gets an answer. */
  isCutOff: boolean;
}

export class AuthorityWorld {
  readonly time = new VirtualClock();
  readonly replicas: Replica[] = [];
  /** Each problem found: `120 s: r1 serves <CA1>, which api0 does not know`. */
  readonly failures = new Set<string>();
  /** All authorities that ever signed a certificate. */
  readonly signers = new Set<string>();
  readonly #random: () => number;
  readonly #apiServers: { known: string | undefined; nextAt: number }[] = [
    { known: undefined, nextAt: 0 },
    { known: undefined, nextAt: 0 },
  ];
  #secret: Versioned<FoundState> | undefined;
  #configuration: Versioned<string> | undefined;
  #versions = 0;
  #authorities = 0;
  #leader: Replica | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  get living(): readonly Replica[] {
    return this.replicas.filter(({ isAlive }) => isAlive);
  }

  get serving(): readonly Replica[] {
    return this.living.filter(({ signer }) => signer !== '');
  }

  get state(): AuthorityState | undefined {
    return this.#secret?.value.kind === 'whole' ? this.#secret.value.state : undefined;
  }

  /** Starts a replica whose clock is wrong by `skewMs`. */
  start(skewMs: number): Replica {
    const name = `r${this.replicas.length}`;
    const replica: Replica = {
      name,
      signer: '',
      isAlive: true,
      isCutOff: false,
      authority: new AuthorityReplica(settings, {
        clock: {
          monotonic: () => this.time.monotonic(),
          random: this.#random,
          now: () => new Date(begin + this.time.monotonic() + skewMs),
        },
        isServed: async () => await this.#ask(replica, () => this.#configuration !== undefined),
        secret: {
          read: async () => await this.#ask(replica, () => this.#readSecret()),
          write: async (found, state) => await this.#ask(replica, () => this.#writeSecret(found, state)),
        },
        issuer: {
          authority: async (now) => await Promise.resolve(this.#newAuthority(now)),
          serving: async (signer, now) => {
            const notAfter = new Date(Math.min(signer.notAfter, now + settings.certLifetime));
            return await Promise.resolve({ cert: signer.certPem, key: '', fingerprint: '', notAfter });
          },
        },
        observer: {
          stepped: () => undefined,
          learned: () => undefined,
          renewed: (pair) => {
            replica.signer = pair.cert;
            this.signers.add(pair.cert);
          },
        },
      }),
    };
    this.replicas.push(replica);
    void this.#live(replica);
    return replica;
  }

  kill(replica: Replica): void {
    replica.isAlive = false;
    if (this.#leader === replica) this.#leader = undefined;
  }

  /** Makes another replica the leader. */
  changeLeader(): void {
    const others = this.serving.filter((each) => each !== this.#leader);
    this.#leader = others[Math.floor(this.#random() * others.length)] ?? this.#leader;
  }

  /** Damages the Secret. */
  tamper(value: FoundState | undefined): void {
    this.#versions += 1;
    this.#secret = value === undefined ? undefined : { version: this.#versions, value };
  }

  /** Lets time pass, and checks twice a second that every API server can verify every replica. */
  async pass(milliseconds: number): Promise<void> {
    for (let left = milliseconds; left > 0; left -= 500) {
      await this.time.advance(500);
      this.#check();
    }
  }

  #check(): void {
    const now = this.time.monotonic();
    for (const { name, signer, authority } of this.serving) {
      const notAfter = authority.pair?.notAfter.getTime() ?? 0;
      if (notAfter <= begin + now) this.failures.add(`${now / 1000} s: ${name} has expired`);
      this.#apiServers.forEach(({ known }, index) => {
        if (known?.includes(signer) === false)
          this.failures.add(`${now / 1000} s: ${name} serves ${signer}, api${index} knows ${known}`);
      });
    }
  }

  async #live(replica: Replica): Promise<void> {
    while (replica.isAlive) {
      await this.#quietly(async () => {
        await replica.authority.round(never);
        if (replica.authority.pair !== undefined && this.#leader?.isAlive !== true) this.#leader = replica;
        if (this.#leader === replica) await this.#keep(replica);
      });
      await this.#untilNews();
    }
  }

  async #quietly(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
    }
  }

  /** Waits for the next poll, or for a watch event, which may be late. */
  async #untilNews(): Promise<void> {
    const before = this.#secret?.version;
    for (let waited = 0; waited < pollMs; waited += 500) {
      await this.time.sleep(500);
      if (this.#secret?.version === before) continue;
      await this.time.sleep(this.#random() * maxDelays.news);
      return;
    }
  }

  /** Applies and confirms the bundle like the keeper of the configurations. */
  async #keep(replica: Replica): Promise<void> {
    const { authority } = replica;
    const wanted = bundleOf(await authority.round(never));
    const live = await this.#ask(replica, () => this.#configuration);
    if (live?.value !== wanted)
      await this.#ask(replica, () => this.#writeConfiguration(live?.version, wanted));
    const stored = await this.#ask(replica, () => this.#configuration);
    if (stored?.value === wanted && this.#leader === replica) authority.confirm(wanted);
  }

  /** Sends a request. Both the request and its answer may be delayed. */
  async #ask<T>(replica: Replica, work: () => T): Promise<T> {
    await this.time.sleep(this.#random() * maxDelays.latency);
    if (replica.isCutOff || !replica.isAlive)
      throw new KubeError({ code: 0, reason: 'ECONNREFUSED', retryable: true });
    const done = work();
    await this.time.sleep(this.#random() * maxDelays.latency);
    return done;
  }

  #readSecret(): FoundSecret {
    const secret = this.#secret;
    if (secret === undefined) return { found: { kind: 'missing' }, object: undefined };
    const resourceVersion = String(secret.version);
    return { found: secret.value, object: { metadata: { resourceVersion } } };
  }

  #writeSecret({ object }: FoundSecret, state: AuthorityState): boolean {
    const before = this.#secret === undefined ? undefined : String(this.#secret.version);
    if (object?.metadata['resourceVersion'] !== before) return false;
    this.tamper({ kind: 'whole', state });
    return true;
  }

  #writeConfiguration(version: number | undefined, value: string): void {
    if (this.#configuration?.version !== version)
      throw new KubeError({ code: 409, reason: 'Conflict', retryable: true });
    this.#versions += 1;
    this.#configuration = { version: this.#versions, value };
    for (const server of this.#apiServers) {
      // A watch delivers its events in order.
      const at = Math.max(server.nextAt, this.time.monotonic() + this.#random() * maxDelays.lag);
      server.nextAt = at;
      void this.time.sleep(at - this.time.monotonic()).then(() => (server.known = value));
    }
  }

  #newAuthority(now: number) {
    this.#authorities += 1;
    const certPem = `<CA${this.#authorities}>`;
    return { certPem, keyPem: 'key', createdAt: now, notAfter: now + settings.caLifetime };
  }
}
