// Finds out when the Service of the webhook leads to a replica: before, webhook configurations would refuse requests.
import { connect } from 'node:tls';
import { ownMember } from '../base/json.ts';
import { KubeError } from '../base/kube-error.ts';
import type { Clock } from '../base/clock.ts';
import { pause } from '../base/pause.ts';
import type { ObjectStore } from './ports.ts';

export interface ServiceAddress {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Returns whether a connection to the Service succeeds. */
export type TryService = () => Promise<boolean>;

const tryEveryMs = 250;
/** The nodes of the API servers may learn of the first Pod that is ready a moment later than this node. */
const settleMs = 500;
/** A network policy can keep this Pod from its own Service. Every API server knows the first ready Pod by then. */
const patienceMs = 10_000;
const connectMs = 1000;

/** Resolves when connections have succeeded for half a second, after ten seconds in any case, or when the signal aborts. */
export async function serviceReached(
  tryService: TryService,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.monotonic() + patienceMs;
  let since: number | undefined;
  while (!signal.aborted && clock.monotonic() < deadline) {
    if (!(await tryService())) since = undefined;
    else if (clock.monotonic() - (since ??= clock.monotonic()) >= settleMs) return;
    await pause(clock, tryEveryMs, signal);
  }
}

/** Tries the address of the Service, because not every cluster resolves its name for a Pod in the network of its node. */
export function serviceTrial(
  store: Pick<ObjectStore, 'read'>,
  { namespace, name, port }: ServiceAddress,
  signal: AbortSignal,
): TryService {
  return async () => {
    try {
      const service = await store.read({ apiVersion: 'v1', kind: 'Service', namespace, name }, { signal });
      const host = ownMember(service?.['spec'], 'clusterIP');
      // A Service without an address has the text "None".
      return typeof host === 'string' && /\d|:/.test(host) && (await accepts(host, port));
    } catch (error) {
      // An older install does not allow this read.
      if (error instanceof KubeError || signal.aborted) return false;
      throw error;
    }
  };
}

/** Returns whether a TLS server answers there. Nothing is sent to that server, so its certificate does not matter. */
export async function accepts(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, rejectUnauthorized: false, timeout: connectMs });
  socket.once('secureConnect', () => resolve(true));
  socket.once('error', () => resolve(false));
  socket.once('timeout', () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
