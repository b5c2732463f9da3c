// Both versions of Helm for the tests of the chart. Without Go these tests are skipped, unless they are required.
import { describe } from 'vitest';
import { findGo } from '../cluster/go-program.ts';
import { findHelm, type Helm, type HelmMajor } from '../cluster/helm/helm.ts';

const { skipIf } = describe;
const hasGo = (await findGo()) !== undefined;
const isRequired = process.env['REEVE_CLUSTER_TESTS'] === 'required';
if (!hasGo && isRequired)
  throw new Error('Go is not on the PATH, so there is no Helm to test the chart with');

/** Groups tests that need Helm. */
export const describeHelm = skipIf(!hasGo);

export async function neededHelm(major: HelmMajor): Promise<Helm> {
  const helm = await findHelm(major, process.env, (text) => process.stderr.write(text));
  if (helm === undefined) throw new Error('Go is not on the PATH');
  return helm;
}
