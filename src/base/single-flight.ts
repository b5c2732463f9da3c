// Lets everybody who asks the same thing at the same time wait for one answer.
import { abortable } from './abortable.ts';

export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T>>();

  /** Whoever goes away stops waiting; the work goes on, because others may wait for it. */
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
