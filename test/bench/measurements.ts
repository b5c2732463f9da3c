// All measurements of the bench, in the order in which a run makes them.
import type { Measurement } from './row.ts';
import { reviewKindMeasurements } from './rows/review-kinds.ts';
import { reviewMeasurements } from './rows/reviews.ts';

export const measurements: readonly Measurement[] = [...reviewMeasurements, ...reviewKindMeasurements];
