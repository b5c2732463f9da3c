// A first install on real nodes: once Helm returns, the next write is judged.
import { beforeAll, expect, test } from 'vitest';
import { helmOnRig, reeveInstall, reeveIsComplete } from '../cluster/node/rig-reeve.ts';
import type { NodeRig } from '../cluster/node/rig.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { describeNodes, sharedRig } from './support/shared-rig.ts';
import { applyFirstSteps } from './support/steady-writes.ts';

const hookAccounts = ['reeve-enforced', 'reeve-uninstall'];

describeNodes('the release of the chart, removed and installed again', () => {
  let rig: NodeRig;
  beforeAll(async () => {
    rig = await sharedRig();
  });

  test('the webhook may ask through the API server whether its Service leads to a replica, and nothing else there', async () => {
    const asWebhook = (path: string, name = 'https:reeve-webhook:443'): Promise<{ stderr: string }> =>
      kubectl(
        [
          'get',
          '--raw',
          `/api/v1/namespaces/reeve-system/services/${name}/proxy/${path}`,
          '--as=system:serviceaccount:reeve-system:reeve-webhook',
        ],
        rig.cluster,
      );
    expect((await asWebhook('validate')).stderr).toMatch(/MethodNotAllowed|does not allow this method/);
    expect((await asWebhook('validate', 'reeve-webhook:443')).stderr).toContain('Forbidden');
  });

  test('the first write after helm install is judged by a policy that was stored before', async ({
    annotate,
  }) => {
    await helmOnRig(rig, 4, ['uninstall', 'reeve', '--wait']);
    const accounts = await mustKubectl(['get', 'serviceaccounts', '-o=name', '-n=reeve-system'], rig.cluster);
    for (const account of hookAccounts) expect(accounts).not.toContain(account);
    await mustKubectl(['apply', '-f', 'manifests/crds', '-f', 'manifests/samples/first-steps'], rig.cluster);
    const began = performance.now();
    const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1);
    const bad = async (): Promise<string> =>
      (await kubectl(['create', 'namespace', 'app-probe', '--dry-run=server'], rig.cluster)).stderr;
    const isRefused = async (): Promise<boolean> => (await bad()).includes('policy apps');
    const refused = until(isRefused, () => 'a namespace is refused').then(seconds);
    await helmOnRig(rig, 4, [...reeveInstall(), '--take-ownership']);
    const returned = seconds();
    const stderr = await bad();
    await annotate(`refused after ${await refused} s, helm install returned after ${returned} s`);
    expect(stderr).toContain('policy apps');
    await reeveIsComplete(rig);
    await applyFirstSteps(rig.cluster);
  });
});
