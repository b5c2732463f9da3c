// How often a property is tried: as often as its test says, or a tenth of it in the quick tests.

/** Set by `npm run test:quick`. */
const variable = 'REEVE_QUICK_TESTS';

export function propertyRuns(count: number): number {
  return process.env[variable] === undefined ? count : Math.ceil(count / 10);
}
