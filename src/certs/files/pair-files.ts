// Opens the serving pair that the operator names: two files, or a folder with both. `makePair` needs no files.
import { join, dirname } from 'node:path';
import { StartError } from '../../base/start-error.ts';
import { issueCertificates } from '../issue/issue.ts';
import type { CaBundle, PairSource, CertificateObserver } from '../ports.ts';
import { existingCertificateFiles } from './files.ts';
import { parseServingPair, readServingPair, type ServingPair, readAuthority } from './serving-pair.ts';
import { watch, type FSWatcher } from 'node:fs';
import type { Clock } from '../../base/clock.ts';

export interface PairSettings {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tlsCa?: string | undefined;
  /** Holds tls.crt and tls.key, and perhaps ca.crt. */
  readonly certsDir: string | undefined;
}

/** Returns undefined when the settings name no files. Rejects with a StartError. */
export async function openGivenPair(
  { tlsCert, tlsKey, tlsCa, certsDir }: PairSettings,
  observer: CertificateObserver,
): Promise<PairSource | undefined> {
  if (tlsCert !== undefined && tlsKey !== undefined)
    return await fromFiles({ cert: tlsCert, key: tlsKey, ca: tlsCa }, observer);
  return certsDir === undefined ? undefined : await fromFolder(certsDir, observer);
}

/** Makes a pair in memory that never changes and that no API server knows. */
export async function makePair(namespace: string, observer: CertificateObserver): Promise<PairSource> {
  const now = new Date();
  const request = { namespace, now, caLifetimeDays: 3650, leafLifetimeDays: 365 };
  const { certPem, keyPem } = (await issueCertificates(request)).serving;
  const made = parseServingPair(certPem, keyPem, { cert: 'memory', key: 'memory' }, now);
  if (!made.ok) throw new Error('the issued pair is unusable');
  observer.opened(made.value);
  return {
    pair: made.value,
    bundle: foreignBundle,
    watch: () => undefined,
    close: () => Promise.resolve(),
  };
}

/** Follows the file. While its content is unusable, the previous bundle counts. Rejects with a StartError. */
export async function openFileBundle(
  path: string,
  observer: Pick<CertificateObserver, 'notReloaded'>,
): Promise<CaBundle> {
  const first = await readAuthority(path);
  if (!first.ok) throw new StartError(first.problem);
  let good = first.value;
  let lastProblem = '';
  return {
    ...unheard,
    wanted: async () => {
      const reading = await readAuthority(path);
      if (reading.ok) good = reading.value;
      else if (reading.problem !== lastProblem)
        observer.notReloaded('certificate authority', reading.problem);
      lastProblem = reading.ok ? '' : reading.problem;
      return good;
    },
  };
}

/** A file needs no confirmation, and is read whenever the bundle is wanted. */
const unheard: Pick<CaBundle, 'confirmed' | 'doubted' | 'subscribe'> = {
  confirmed: () => undefined,
  doubted: () => undefined,
  subscribe: () => () => undefined,
};

/** Stands for the bundle that another program writes into the webhook configurations. */
export const foreignBundle: CaBundle = { ...unheard, wanted: () => Promise.resolve(undefined) };

interface PairFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
}

async function fromFiles({ cert, key, ca }: PairFiles, observer: CertificateObserver): Promise<PairSource> {
  const reading = await readServingPair(cert, key);
  if (!reading.ok) throw new StartError(reading.problem);
  observer.opened(reading.value);
  const open: { close(): void }[] = [];
  const watchPair = (apply: (pair: ServingPair) => void): void => {
    const reloader = watchServingPair({
      certPath: cert,
      keyPath: key,
      current: reading.value,
      apply: (pair) => {
        apply(pair);
        observer.reloaded(pair);
      },
      onProblem: (problem) => observer.notReloaded('certificate', problem),
    });
    open.push(reloader);
  };
  return {
    pair: reading.value,
    bundle: ca === undefined ? foreignBundle : await openFileBundle(ca, observer),
    watch: watchPair,
    close: () => {
      for (const reloader of open) reloader.close();
      return Promise.resolve();
    },
  };
}

async function fromFolder(folder: string, observer: CertificateObserver): Promise<PairSource> {
  const existing = await existingCertificateFiles(folder);
  if (existing.length === 0)
    throw new StartError(`${folder} holds no certificates; reeve certs --out ${folder} makes them`);
  const ca = join(folder, 'ca.crt');
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  // A mounted pair may come without its authority. Then another program writes the bundle.
  return await fromFiles({ cert, key, ca: existing.includes(ca) ? ca : undefined }, observer);
}

// Watches the two files of a serving pair, and hands over each new valid pair; an invalid pair changes nothing.

interface ReloadOptions {
  readonly certPath: string;
  readonly keyPath: string;
  /** The pair that is in use now. */
  readonly current: ServingPair;
  /** Puts a new pair into use. If it throws, the pair counts as invalid. */
  readonly apply: (pair: ServingPair) => void;
  /** Gets each distinct problem once, and again only after a valid pair. Must not throw. */
  readonly onProblem: (text: string) => void;
  readonly clock?: Pick<Clock, 'now'>;
  /** Mounted Secrets change by a symlink that a watch may miss, so the files are also read at this interval. */
  readonly pollMilliseconds?: number;
  /** Delay between a change and the reading: the two files rarely change at the same time. */
  readonly settleMilliseconds?: number;
}

interface ServingPairReloader {
  readonly current: ServingPair;
  close(): void;
}

/** Neither its timers nor its watchers keep the process alive. */
export function watchServingPair(options: ReloadOptions): ServingPairReloader {
  const watcher = new PairWatcher(options);
  watcher.start();
  return watcher;
}

class PairWatcher implements ServingPairReloader {
  readonly #options: ReloadOptions;
  readonly #reported = new Set<string>();
  #current: ServingPair;
  #watchers: readonly FSWatcher[] = [];
  #poll: NodeJS.Timeout | undefined;
  #settle: NodeJS.Timeout | undefined;
  #suspected: string | undefined;
  #isReading = false;
  #isClosed = false;

  constructor(options: ReloadOptions) {
    this.#options = options;
    this.#current = options.current;
  }

  get current(): ServingPair {
    return this.#current;
  }

  start(): void {
    const folders = new Set([dirname(this.#options.certPath), dirname(this.#options.keyPath)]);
    this.#watchers = [...folders].flatMap((folder) => this.#watchFolder(folder));
    this.#poll = setInterval(() => void this.#read(), this.#options.pollMilliseconds ?? 10_000).unref();
    // The files may have changed between their first reading and the watch.
    this.#readSoon();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#settle);
    for (const watcher of this.#watchers) watcher.close();
  }

  /** Watches the folder. A rename gives a file another inode, which a watch on the file would miss. */
  #watchFolder(folder: string): readonly FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#readSoon());
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      // The folder is missing, or this machine has no watches left. Then the poll finds the changes.
      return [];
    }
  }

  /** Keeps a timer that is set, so that never-ending changes in a folder cannot delay the reading. */
  #readSoon(): void {
    if (this.#isClosed || this.#settle !== undefined) return;
    this.#settle = setTimeout(() => {
      this.#settle = undefined;
      void this.#read();
    }, this.#options.settleMilliseconds ?? 100).unref();
  }

  async #read(): Promise<void> {
    // Two readings at once could end in the wrong order, and leave the older pair in use.
    if (this.#isReading) return this.#readSoon();
    this.#isReading = true;
    const { certPath, keyPath, clock } = this.#options;
    const reading = await readServingPair(certPath, keyPath, clock?.now());
    this.#isReading = false;
    if (this.#isClosed) return;
    if (reading.ok) this.#take(reading.value);
    else this.#refuse(reading.problem);
  }

  #take(pair: ServingPair): void {
    const isNew = pair.cert !== this.#current.cert || pair.key !== this.#current.key;
    if (isNew && !this.#isApplied(pair)) {
      this.#refuse(`the server does not take the certificate in ${this.#options.certPath}`);
      return;
    }
    this.#current = pair;
    this.#suspected = undefined;
    this.#reported.clear();
  }

  #isApplied(pair: ServingPair): boolean {
    try {
      this.#options.apply(pair);
      return true;
    } catch {
      return false;
    }
  }

  /** Reads a pair twice before it reports a problem: the files may be half-written. */
  #refuse(problem: string): void {
    if (this.#reported.has(problem)) return;
    if (this.#suspected !== problem) {
      this.#suspected = problem;
      this.#readSoon();
      return;
    }
    this.#reported.add(problem);
    this.#options.onProblem(problem);
  }
}
