// One or several leaders that share an API server, in virtual time. Each leader keeps a part of the namespaces.
import { ReadyKeys } from '../../../src/reconcile/queue/key-order.ts';
import { writeMsBeside, type ScaleCosts } from './costs.ts';
import { Station, Timeline } from './timeline.ts';

export interface FleetOptions {
  readonly leaders: number;
  readonly namespaces: number;
  /** How many times as many writes the API server handles as the one of the recorded runs. */
  readonly apiServer: number;
  /** `by urgency`: single changes go before work for all namespaces, as in Reeve. */
  readonly order: 'by urgency' | 'by arrival';
}

interface Work {
  readonly writes: number;
  readonly since: number;
  readonly done: (lagMs: number) => void;
}

/** A leader works on a limited number of namespaces at once, but its processor does one thing at a time. */
class Leader {
  readonly processor: Station;
  readonly #fleet: Fleet;
  /** The order of the real queue. */
  readonly #ready = new ReadyKeys<Work>();
  #free: number;

  constructor(fleet: Fleet, places: number) {
    this.#fleet = fleet;
    this.#free = places;
    this.processor = new Station(fleet.timeline, 1);
  }

  add(work: Work, isForAll: boolean): void {
    const isBulk = isForAll && this.#fleet.options.order === 'by urgency';
    this.#ready.add(work, false, isBulk ? 'bulk' : 'now');
    this.#start();
  }

  #start(): void {
    if (this.#free === 0) return;
    const work = this.#ready.take(true)?.key;
    if (work === undefined) return;
    this.#free -= 1;
    this.processor.serve(
      () => this.#fleet.costs.planMs,
      () => this.#write(work, work.writes),
    );
  }

  /** Writes one object after the other, as a namespace is handled. */
  #write(work: Work, left: number): void {
    if (left === 0) {
      this.#free += 1;
      work.done(this.#fleet.timeline.now - work.since);
      this.#start();
      return;
    }
    const { costs } = this.#fleet;
    this.processor.serve(
      () => costs.writeProcessorMs,
      () => this.#fleet.write(() => this.#write(work, left - 1)),
    );
  }
}

export class Fleet {
  readonly timeline = new Timeline();
  readonly options: FleetOptions;
  readonly costs: ScaleCosts;
  readonly #api: Station;
  readonly #leaders: readonly Leader[];

  constructor(options: FleetOptions, costs: ScaleCosts) {
    this.options = options;
    this.costs = costs;
    // All leaders have accounts of one level. Requests beyond its seats wait in the API server.
    this.#api = new Station(this.timeline, costs.seats);
    this.#leaders = Array.from({ length: options.leaders }, () => new Leader(this, costs.concurrency));
  }

  write(done: () => void): void {
    this.#api.serve((inProgress) => writeMsBeside(this.costs, inProgress / this.options.apiServer), done);
  }

  /** Gives each namespace to its leader, with this many writes. `onDone` gets the time when the last one is done. */
  forAll(writes: number, onDone: (at: number) => void): void {
    const { namespaces, leaders } = this.options;
    let left = namespaces;
    const done = (): void => {
      left -= 1;
      if (left === 0) onDone(this.timeline.now);
    };
    for (let index = 0; index < namespaces; index++)
      this.#leaders[index % leaders]?.add({ writes, since: this.timeline.now, done }, true);
  }

  /** A namespace changes now. `delay`: the time until a leader hears of it. */
  change(namespace: number, writes: number, delay: number, done: (lagMs: number) => void): void {
    const since = this.timeline.now;
    const leader = this.#leaders[namespace % this.options.leaders];
    this.timeline.after(delay, () => leader?.add({ writes, since, done }, false));
  }

  /** The share of the time that the busiest leader has used its processor. */
  load(): number {
    return Math.max(...this.#leaders.map(({ processor }) => processor.busyMs)) / this.timeline.now;
  }
}
