// Sets how many runs a property gets: as many as its test says, a tenth in the quick tests, many more with random seeds.

/** Set by `npm run test:quick`. */
const quickVariable = 'REEVE_QUICK_TESTS';
/** Set by `npm run test:random`: how many times as many runs, each with a seed of its own. */
const randomVariable = 'REEVE_RANDOM_RUNS';

const factor = Number(process.env[randomVariable] ?? 0);

/** The same seed each time, so that the outcome depends on the code alone. None: a random seed. */
export const propertySeed = factor > 0 ? undefined : 20_261_122;

export function propertyRuns(count: number): number {
  if (factor > 0) return count * factor;
  return process.env[quickVariable] === undefined ? count : Math.ceil(count / 10);
}
