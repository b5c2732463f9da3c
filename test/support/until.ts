// Waits for a condition outside of tests, where expect.poll is not available.
import { setTimeout as sleep } from 'node:timers/promises';

const defaultSeconds = 150;

/** Rejects with the text of `describe` when the condition is not met in time. */
export async function until(
  isMet: () => Promise<boolean>,
  describe: () => string | Promise<string>,
  seconds = defaultSeconds,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await isMet())) {
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${await describe()}`);
    await sleep(25);
  }
}
