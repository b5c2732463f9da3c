// Before the tests: builds both versions of Helm, which takes minutes the first time, so that no test has to wait for it.
import { findHelm, helmMajors } from '../cluster/helm/helm.ts';

export async function setup(): Promise<void> {
  // Without Go there is no Helm, and each test that needs one says so.
  for (const major of helmMajors)
    await findHelm(major, process.env, (text) => void process.stderr.write(text));
}
