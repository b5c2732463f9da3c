// Shares one piece of work between all callers that ask for the same key at the same time.
import { abortable } from './abort.ts';

export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T>>();

  /** A caller whose signal aborts stops waiting. The work continues, because other callers may wait for it. */
  async run(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, work);
    return signal === undefined ? await flight : await abortable(flight, signal);
  }

  #begin(key: string, work: () => Promise<T>): Promise<T> {
    const flight = work().finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return flight;
  }
}
