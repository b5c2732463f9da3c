// `npm run bench`: measures the start of the sandbox, reviews, and the fan-out of a Secret. Exits with 1 when one is too slow.
//
// `npm run bench -- --namespaces=1000` measures what Reeve needs for a cluster of that size instead, and `--outages` what
// users see when parts are lost.
import { parseArgs } from 'node:util';
import { benchFanOut } from './fan-out-bench.ts';
import { measureOutages } from './outage-bench.ts';
import { benchReviews } from './review-bench.ts';
import { benchSandbox } from './sandbox-bench.ts';
import { measureSize } from './sizing-bench.ts';

const { values } = parseArgs({
  options: {
    outages: { type: 'boolean', default: false },
    namespaces: { type: 'string' },
    policies: { type: 'string', default: '2' },
    shares: { type: 'string', default: '1' },
    others: { type: 'string', default: '0' },
    'secret-bytes': { type: 'string', default: '1000' },
  },
});
if (values.outages) {
  await measureOutages();
} else if (values.namespaces === undefined) {
  const isFastEnough = [await benchSandbox(), await benchReviews(), await benchFanOut()];
  if (isFastEnough.includes(false)) process.exitCode = 1;
} else {
  const { namespaces, policies, shares } = values;
  await measureSize({
    namespaces: Number(namespaces),
    policies: Number(policies),
    shares: Number(shares),
    others: Number(values.others),
    secretBytes: Number(values['secret-bytes']),
  });
}
