// docs/command-line.md is true on a Kubernetes API server: its commands run as written and print the output shown.
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { testCommandLinePage } from '../support/command-line-page.ts';
import { reeveHasSeenAll } from '../support/document-steps.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';

const firstSteps = join(import.meta.dirname, '../../manifests/samples/first-steps');

describeControllers('on a cluster with Reeve and the first steps', () => {
  // Its own cluster: the output counts every namespace and policy.
  let cluster: ControlPlane;
  let reeve: Reeve;

  beforeAll(async () => {
    cluster = await startControlPlane({ audit: false });
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    await mustKubectl(['apply', '-f', firstSteps], cluster);
    await reeveHasSeenAll(cluster.kubeconfig);
  });
  afterAll(async () => {
    await reeve.stop();
    await cluster.stop();
  });

  testCommandLinePage(() => cluster.kubeconfig);
});
