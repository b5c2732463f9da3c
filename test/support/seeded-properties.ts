// Before each file of the quick tests: gives the properties their seed.
import * as fc from 'fast-check';
import { propertySeed } from './property-runs.ts';

if (propertySeed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: propertySeed });
