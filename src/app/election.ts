// Runs a task in one of several processes, chosen through a Lease, or at once where only one process runs.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeClient } from '../kube/http/client.ts';
import { electLeader } from '../kube/lease/lease.ts';
import type { Log } from '../observe/log.ts';
import { systemClock } from '../base/clock.ts';

interface ElectionSettings {
  readonly namespace: string;
  /** The name of the Lease. */
  readonly name: string;
  /** If false, this process leads from the start, and must be the only one. */
  readonly leaderElect: boolean;
}

export interface Election {
  readonly isLeader: boolean;
  /** Ends the task, then releases the Lease. */
  stop(): Promise<void>;
}

/** The task runs until its signal aborts, and starts again with the next lead. Its rejection is an error of the program. */
export function elect(
  client: KubeClient,
  settings: ElectionSettings,
  log: Log,
  work: (signal: AbortSignal) => Promise<void>,
  fail: (error: unknown) => void,
): Election {
  return settings.leaderElect ? leadInTurns(client, settings, log, work, fail) : leadAlone(work, fail);
}

function leadAlone(work: (signal: AbortSignal) => Promise<void>, fail: (error: unknown) => void): Election {
  const controller = new AbortController();
  const working = work(controller.signal).catch(fail);
  return {
    isLeader: true,
    stop: async () => {
      controller.abort();
      await working;
    },
  };
}

function leadInTurns(
  client: KubeClient,
  { namespace, name }: ElectionSettings,
  log: Log,
  work: (signal: AbortSignal) => Promise<void>,
  fail: (error: unknown) => void,
): Election {
  let working = Promise.resolve();
  const ending = new AbortController();
  const candidacy = electLeader(
    client,
    {
      clock: systemClock,
      namespace,
      name,
      identity: `${hostname()}_${randomUUID()}`,
      onError: ({ code, reason }) => log.warn('lease not renewed', { lease: name, code, reason }),
    },
    {
      onLead: (signal) => {
        log.info('leading', { lease: name });
        // The task of an earlier lead must end first.
        working = working.then(() => work(AbortSignal.any([signal, ending.signal]))).catch(fail);
      },
      onLost: () => log.warn('lead lost', { lease: name }),
    },
  );
  candidacy.stopped.catch(fail);
  return {
    get isLeader() {
      return candidacy.isLeader;
    },
    stop: async () => {
      // The task must end before the next leader starts.
      ending.abort();
      await working;
      await candidacy.stop();
    },
  };
}
