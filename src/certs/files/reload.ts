// Watches the two files of a serving pair, and hands over each new valid pair; an invalid pair changes nothing.
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { readServingPair } from './serving-pair.ts';
import type { ServingPair } from './serving-pair.ts';

export interface ReloadOptions {
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

export interface ServingPairReloader {
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

  /** The folder, not the files: a rename gives a file another inode, which a watch on the file would not see. */
  #watchFolder(folder: string): readonly FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#readSoon());
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      // No folder yet, or no watches left on this machine: the poll does without.
      return [];
    }
  }

  /** A timer that is set stays as it is, so that a folder with never-ending changes is read all the same. */
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
