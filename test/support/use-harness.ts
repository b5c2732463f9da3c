// Gives the tests of a file their reconcilers, and ends each after its test.
import { afterEach } from 'vitest';
import { Harness } from './reconcile-harness.ts';

/** Makes reconcilers for the tests of a file; each is stopped after its test, which fails if the program was at fault. */
export function useHarness(): (...options: ConstructorParameters<typeof Harness>) => Harness {
  const made: Harness[] = [];
  afterEach(async () => {
    for (const harness of made.splice(0)) await harness.end();
  });
  return (...options) => {
    const harness = new Harness(...options);
    made.push(harness);
    return harness;
  };
}
