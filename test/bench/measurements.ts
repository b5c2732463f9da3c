// All measurements of the bench, in the order in which a run makes them.
import type { Measurement } from './row.ts';
import { creates } from './rows/creates.ts';
import { bursts, fanOuts } from './rows/fan-out.ts';
import { fewBindings, manyBindings, rest } from './rows/large-cluster.ts';
import { lists } from './rows/lists.ts';
import { memory } from './rows/memory.ts';
import { plan } from './rows/plan.ts';
import { processMeasurements } from './rows/processes.ts';
import { fewRestarts, manyRestarts } from './rows/restart.ts';
import { reviewKindMeasurements } from './rows/review-kinds.ts';
import { reviewMeasurements } from './rows/reviews.ts';

/** The shared planes start after all that needs none, and gain namespaces from one measurement to the next. */
export const measurements: readonly Measurement[] = [
  ...reviewMeasurements,
  ...reviewKindMeasurements,
  ...processMeasurements,
  plan,
  memory,
  fewBindings,
  creates,
  fewRestarts,
  fanOuts,
  lists,
  bursts,
  manyBindings,
  rest,
  manyRestarts,
];
