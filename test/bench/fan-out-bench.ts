// Measures how long a share takes to copy one Secret into 500 namespaces, compared with a raw loop of the same writes.
import { findBinary } from '../cluster/binary.ts';
import { startControlPlane } from '../cluster/control-plane.ts';
import { FanOut } from '../support/fan-out.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { startReeve } from '../support/reeve.ts';
import { isKept, verdict } from './bound.ts';
import { median, medianRatio } from './statistics.ts';

const rounds = 5;
const limit = 1.5;

/** Returns true when the share was fast enough. Without a control plane, prints that and also returns true. */
export async function benchFanOut(): Promise<boolean> {
  const binary = await findBinary(process.env, (text) => void process.stderr.write(text));
  if (binary.kind === 'none') {
    process.stdout.write(`fan-out of a Secret: NOT MEASURED, ${binary.reason}\n`);
    return true;
  }
  await using cluster = await startControlPlane({ binary, audit: false });
  await installReeve(cluster);
  const reeve = await startReeve(cluster, { args: ['--log-level=info'] });
  const fanOut = await FanOut.prepare(cluster);
  try {
    const [raw, shared]: [number[], number[]] = [[], []];
    // The first round warms up. Both take turns, so that other load on the machine affects both alike.
    for (let round = 0; round <= rounds; round++) {
      raw.push(await fanOut.rawLoop(`raw-${round}`));
      shared.push(await fanOut.share(`shared-${round}`));
    }
    return report(raw.slice(1), shared.slice(1), fanOut.count);
  } finally {
    fanOut.close();
    await reeve.stop();
  }
}

function report(raw: readonly number[], shared: readonly number[], count: number): boolean {
  const bound = { name: 'fan-out against the raw loop', ratio: medianRatio(shared, raw), limit };
  const seconds = (values: readonly number[]): string => (median(values) / 1000).toFixed(2);
  process.stdout.write(
    `\none Secret in ${count} namespaces: raw loop ${seconds(raw)} s, share ${seconds(shared)} s ` +
      `(medians of ${rounds} rounds in turn)\n${verdict(bound)}\n`,
  );
  return isKept(bound);
}
