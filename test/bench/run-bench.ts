// `npm run bench`: measures the start of the sandbox, reviews, and the fan-out of a Secret. Exits with 1 when one is too slow.
import { benchFanOut } from './fan-out-bench.ts';
import { benchReviews } from './review-bench.ts';
import { benchSandbox } from './sandbox-bench.ts';

const isFastEnough = [await benchSandbox(), await benchReviews(), await benchFanOut()];
if (isFastEnough.includes(false)) process.exitCode = 1;
