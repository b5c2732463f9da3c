// Sets how many runs a property gets: as many as its test says, or a tenth of that in the quick tests.

/** Set by `npm run test:quick`. */
const variable = 'REEVE_QUICK_TESTS';

export function propertyRuns(count: number): number {
  return process.env[variable] === undefined ? count : Math.ceil(count / 10);
}
