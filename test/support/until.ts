// Waits for a condition outside of a test, where no expectation can poll.
import { setTimeout as sleep } from 'node:timers/promises';

const patienceMs = 60_000;

/** Rejects with what `describe` says when the condition does not come about. */
export async function until(
  isMet: () => Promise<boolean>,
  describe: () => string | Promise<string>,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isMet())) {
    if (performance.now() > deadline) throw new Error(`not within a minute: ${await describe()}`);
    await sleep(25);
  }
}
