// Keeps the two webhook configurations right until told to stop: after each change of a cause, and every few seconds.
import { judgedKinds } from '../policy/compile/applicable-rules.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { systemClock } from '../base/clock.ts';
import { InterruptiblePause } from '../base/pause.ts';
import { ConfigurationKeeper, ownerRole, type KeeperPorts } from './configuration-keeper.ts';
import {
  webhookConfigurations,
  type WebhookOptions,
  type WebhookTemplates,
} from './wanted-configurations.ts';

/** Options from the settings of the install; the other options depend on the cluster. */
export type FixedOptions = Omit<WebhookOptions, 'caBundle' | 'judged' | 'owner'>;

export interface RegistrationPorts extends Omit<KeeperPorts, 'isReachable'> {
  readonly cluster: LiveCluster;
  /** Resolves once the Service leads to a replica. Until then no configuration is created. */
  readonly reached: Promise<void>;
}

/** How often the stored configurations are compared with the wanted ones when no cause changes. */
const checkMs = 5000;
const retryMs = 1000;
const syncMs = 50;

/** Only one process may run it at a time. Resolves when the signal aborts. */
export async function keepConfigurations(
  templates: WebhookTemplates,
  options: FixedOptions,
  ports: RegistrationPorts,
  signal: AbortSignal,
): Promise<void> {
  const { cluster } = ports;
  let isReachable = false;
  const keeper = new ConfigurationKeeper({ ...ports, isReachable: () => isReachable }, options.version);
  const keep = async (): Promise<boolean> =>
    await keeper.tryToKeep((caBundle, uid) => {
      const judged = judgedKinds(cluster.snapshot().policies);
      const owner = { name: ownerRole.name, uid };
      return webhookConfigurations(templates, { ...options, caBundle, judged, owner });
    }, signal);
  const pause = new InterruptiblePause(systemClock);
  const whenReached = async (): Promise<void> => {
    await ports.reached;
    isReachable = true;
    pause.interrupt();
  };
  const reached = whenReached();
  const unsubscribe = [
    cluster.subscribe((each) => {
      // A new status of a policy does not change the kinds that policies have rules for.
      if (each.kind === 'provider' && each.before?.definition !== each.after?.definition) pause.interrupt();
    }),
    ports.bundle.subscribe(() => pause.interrupt()),
  ];
  try {
    while (!signal.aborted) {
      // The wanted webhooks depend on the policies, so the first round waits for them.
      const waitMs = !cluster.isSynced ? syncMs : (await keep()) ? checkMs : retryMs;
      // A change during the round ends this wait at once: the round may have missed it.
      await pause.wait(waitMs, signal);
    }
    await reached;
  } finally {
    for (const end of unsubscribe) end();
  }
}
