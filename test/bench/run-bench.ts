// `npm run bench`: measures reviews, and the fan-out of a Secret where there is a control plane; ends with 1 when too slow.
import { benchFanOut } from './fan-out-bench.ts';
import { benchReviews } from './review-bench.ts';

const isFastEnough = [await benchReviews(), await benchFanOut()];
if (isFastEnough.includes(false)) process.exitCode = 1;
