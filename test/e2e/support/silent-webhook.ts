// Runs a webhook without requests whose watches fall silent without ending, and measures how it notices later changes.
import { setTimeout as sleep } from 'node:timers/promises';
import { reeveCertificates } from '../../cluster/reeve-install.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { spawnReeve, type Reeve } from '../../support/reeve.ts';
import { until } from '../../support/until.ts';
import { interruptions, silence } from './connection-news.ts';
import { policy } from './objects.ts';
import type { Stage } from './stage.ts';

const path = '/apis/reeve.dev/v1alpha1/namespacepolicies';
/** The webhook waits for 90 s, and the machine may be slow. */
const mostSeconds = 150;

export interface Silence {
  /** The longest silence in its metrics, in seconds. */
  readonly longest: number;
  readonly stalled: number;
  readonly isReady: boolean;
}

/** Resolves when the webhook knows a policy that its silent watch did not report. Rejects when that never happens. */
export async function fallSilent(stage: Stage, policyName: string): Promise<Silence> {
  const { cluster } = stage;
  using proxy = await startFaultProxy(new URL(cluster.server));
  const account = await cluster.tokenKubeconfig('reeve-system', 'reeve-webhook');
  const kubeconfig = await proxy.kubeconfigLike(account);
  const args = ['--manage-webhooks=false', `--certs-dir=${await reeveCertificates(cluster)}`];
  await using reeve = await spawnReeve(cluster, { role: 'webhook', kubeconfig, args });
  await until(
    async () => await reeve.isReady(),
    () => reeve.output,
  );
  proxy.silence('open');
  const before = await policiesOf(reeve);
  await stage.apply(policy(policyName, { match: { names: [policyName] } }));
  let longest = 0;
  await until(
    async () => {
      await sleep(500);
      longest = Math.max(longest, await silence(reeve, path));
      return (await policiesOf(reeve)) > before;
    },
    () => `it has heard nothing for ${longest} s`,
    mostSeconds,
  );
  return { longest, stalled: await interruptions(reeve, 'Stalled'), isReady: await reeve.isReady() };
}

async function policiesOf(reeve: Reeve): Promise<number> {
  return (await reeve.metric('reeve_policies{state="loaded"}')) ?? 0;
}
