// Without Go, the e2e tests run on a sandbox. Where Go is, only this test shows that Reeve can be installed there.
import { expect, onTestFinished, test } from 'vitest';
import { ClusterAccess } from '../../cluster/cluster-access.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { mustKubectl } from '../../support/kubectl.ts';
import { startSandboxPlane } from '../../support/sandboxes.ts';

test('a sandbox accepts what an install has beside its Pods', async () => {
  const plane = await startSandboxPlane();
  onTestFinished(() => plane.stop());
  const cluster = new ClusterAccess(plane.provided.folder, plane.provided);
  await installReeve(cluster);
  expect(await mustKubectl(['get', 'validatingadmissionpolicies', '-o=name'], cluster)).toContain(
    '/reeve-jail\n',
  );
});
