// Lets one of several processes do a work: by a Lease, or at once where there is only one.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeClient } from '../kube/http/client.ts';
import { electLeader } from '../kube/lease/lease.ts';
import type { Log } from '../observe/log.ts';
import { systemClock } from '../base/clock.ts';

export interface ElectionSettings {
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** Without it, this process leads from the start, and must be the only one. */
  readonly leaderElect: boolean;
}

export interface Election {
  readonly isLeader: boolean;
  /** Ends the work, then leaves the lead to others. */
  stop(): Promise<void>;
}

/** The work lasts until its signal aborts, and is begun again when the lead is regained; its error is one of the program. */
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
        // What was begun under an earlier lead has to be over first.
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
      // The next leader must find nothing of this one still under way.
      ending.abort();
      await working;
      await candidacy.stop();
    },
  };
}
