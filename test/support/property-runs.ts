// Sets how many runs a property gets: as many as its test says in CI, fewer while people wait, many more with random seeds.

/** Set by `.ci/run`. */
const allVariable = 'REEVE_ALL_RUNS';
/** Set by `npm run test:random`: how many times as many runs, each with a seed of its own. */
const randomVariable = 'REEVE_RANDOM_RUNS';

const factor = Number(process.env[randomVariable] ?? 0);

/** The same seed each time, so that the outcome depends on the code alone. None: a random seed. */
export const propertySeed = factor > 0 ? undefined : 20_261_122;

export function propertyRuns(count: number): number {
  if (factor > 0) return count * factor;
  return Math.ceil(count / divisor());
}

/** The runs are the first ones of the same sequence, so a run that fails here fails in CI, too. */
function divisor(): number {
  return process.env[allVariable] === undefined ? 10 : 1;
}
