// Waits for a condition outside of tests, where expect.poll is not available.
import { setTimeout as sleep } from 'node:timers/promises';

const defaultSeconds = 150;

/** The longest pause between two polls. Shorter than each state that a test must see before it passes. */
const maxPauseMs = 300;

/**
 * Returns the pauses between polls: `firstMs`, and later an eighth of the time waited so far. A condition that takes long
 * must not cost the processor as many requests as one that takes a moment.
 */
export function pauses(firstMs: number): () => Promise<void> {
  const began = performance.now();
  return async () => {
    const waited = performance.now() - began;
    await sleep(Math.min(Math.max(firstMs, waited / 8), maxPauseMs));
  };
}

/** Rejects with the text of `describe` when the condition is not met in time. */
export async function until(
  isMet: () => Promise<boolean>,
  describe: () => string | Promise<string>,
  seconds = defaultSeconds,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  const pause = pauses(25);
  while (!(await isMet())) {
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${await describe()}`);
    await pause();
  }
}
