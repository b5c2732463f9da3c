// Creates reconcilers for the tests of a file and stops each after its test.
import { afterEach } from 'vitest';
import { Harness } from './reconcile-harness.ts';

/** Returns a function that creates a harness. A test fails when its reconciler had an internal error. */
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
