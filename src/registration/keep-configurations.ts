// Keeps the two webhook configurations right until told to stop: after each change of a cause, and every few seconds.
import { judgedKinds } from '../policy/compile/snapshot.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { InterruptiblePause, pause } from '../base/abort.ts';
import { ConfigurationKeeper, ownerRole, type KeeperPorts } from './configuration-keeper.ts';
import {
  webhookConfigurations,
  type WebhookOptions,
  type WebhookTemplates,
} from './wanted-configurations.ts';

/** Options from the settings of the install; the other options depend on the cluster. */
type FixedOptions = Omit<WebhookOptions, 'caBundle' | 'judged' | 'owner'>;

interface RegistrationPorts extends Omit<KeeperPorts, 'isReachable'> {
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
  const untilCause = new InterruptiblePause(systemClock);
  const whenReached = async (): Promise<void> => {
    await ports.reached;
    isReachable = true;
    untilCause.interrupt();
  };
  const reached = whenReached();
  const unsubscribe = [
    cluster.subscribe({
      affecting: ({ before, after }) => {
        if (before?.definition !== after?.definition) untilCause.interrupt();
      },
    }),
    ports.bundle.subscribe(() => untilCause.interrupt()),
  ];
  try {
    while (!signal.aborted) {
      // The wanted webhooks depend on the policies, so the first round waits for them.
      const waitMs = !cluster.isSynced ? syncMs : (await keep()) ? checkMs : retryMs;
      // A change during the round ends this wait at once: the round may have missed it.
      await untilCause.wait(waitMs, signal);
    }
    await reached;
  } finally {
    for (const end of unsubscribe) end();
  }
}

// Finds out when the Service of the webhook leads to a replica: before, webhook configurations would refuse requests.

/** Returns whether a replica answers through the Service within this time. */
type TryService = (timeoutMs: number) => Promise<boolean>;

const tryEveryMs = 250;
/** A question to a Pod on an unreachable node gets no answer. The next question may reach another Pod. */
const questionMs = 3000;
/** The nodes of the API servers may learn of the first Pod that is ready a moment later than this node. */
const settleMs = 500;
/** For an older install, which does not allow the question. After this time, every API server knows the first ready Pod. */
const patienceMs = 10_000;

/** Resolves when a replica has answered for half a second, after ten seconds in any case, or when the signal aborts. */
export async function serviceReached(
  tryService: TryService,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.monotonic() + patienceMs;
  const leftMs = (): number => Math.max(0, deadline - clock.monotonic());
  let since: number | undefined;
  while (!signal.aborted && leftMs() > 0) {
    if (!(await tryService(Math.min(questionMs, leftMs())))) since = undefined;
    else if (clock.monotonic() - (since ??= clock.monotonic()) >= settleMs) return;
    await pause(clock, Math.min(tryEveryMs, leftMs()), signal);
  }
}
