// Waits for a condition outside of a test, where no expectation can poll.
import { setTimeout as sleep } from 'node:timers/promises';

const usualSeconds = 60;

/** Rejects with what `describe` says when the condition does not come about. */
export async function until(
  isMet: () => Promise<boolean>,
  describe: () => string | Promise<string>,
  seconds = usualSeconds,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await isMet())) {
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${await describe()}`);
    await sleep(25);
  }
}
