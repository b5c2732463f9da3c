// `npm run bench`: measures every row of the table in docs/performance.md, and compares it with bench/results.json.
//
// Exits with 1 when a row is worse than its saved figure by more than its threshold, or could not be measured. A missed goal
// is reported in the table.
//
//   --quick         fewer rounds, and only the rows that take seconds
//   --only=ID       this row and those that are measured with it; may be repeated
//   --save          writes bench/results.json and the table of docs/performance.md
//   --compare=FILE  compares with these results instead
//
// `npm run bench -- --namespaces=1000` measures what Reeve needs for a cluster of that size instead, and `--outages` what
// users see when parts are lost. `--scale` simulates clusters that are too large to run, for docs/operate/scale.md.
import { parseArgs } from 'node:util';
import { runBench } from './bench.ts';
import { measureOutages } from './outage-bench.ts';
import { benchScale } from './scale/scale-bench.ts';
import { measureSize } from './sizing-bench.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    save: { type: 'boolean', default: false },
    compare: { type: 'string' },
    scale: { type: 'boolean', default: false },
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
} else if (values.scale) {
  if (!benchScale(values.save)) process.exitCode = 1;
} else if (values.namespaces === undefined) {
  const isFine = await runBench({
    isQuick: values.quick,
    only: values.only,
    isSaving: values.save,
    comparedFile: values.compare,
  });
  if (!isFine) process.exitCode = 1;
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
