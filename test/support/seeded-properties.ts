// Before each file of the quick tests: gives the properties their seed, and runs to those that name no number.
import * as fc from 'fast-check';
import { propertyRuns, propertySeed } from './property-runs.ts';

/** As in fast-check. */
const defaultRuns = 100;

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  ...(propertySeed === undefined ? { numRuns: propertyRuns(defaultRuns) } : { seed: propertySeed }),
});
