// All measurements of the bench, in the order in which a run makes them.
import type { Measurement } from './row.ts';
import { createMeasurements } from './rows/creates.ts';
import { fanOutMeasurements } from './rows/fan-out.ts';
import { largeClusterMeasurements } from './rows/large-cluster.ts';
import { processMeasurements } from './rows/processes.ts';
import { reviewKindMeasurements } from './rows/review-kinds.ts';
import { memoryMeasurements } from './rows/memory.ts';
import { restartMeasurements } from './rows/restart.ts';
import { reviewMeasurements } from './rows/reviews.ts';

export const measurements: readonly Measurement[] = [
  ...reviewMeasurements,
  ...reviewKindMeasurements,
  ...createMeasurements,
  ...fanOutMeasurements,
  ...largeClusterMeasurements,
  ...processMeasurements,
  ...restartMeasurements,
  ...memoryMeasurements,
];
