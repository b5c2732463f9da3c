// Works on many items with the concurrency of Reeve.

/** The default of --concurrency. */
const concurrency = 16;

export async function inParallel<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  // All workers share one iterator: each takes the next free item.
  const worker = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
