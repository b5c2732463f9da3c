// A watch of Reeve's own that loses its patience sooner than the program does, on whatever way a kubeconfig leads.
import type { KubeObject } from '../../../src/api/kube-object.ts';
import { findApiServer } from '../../../src/kube/find-api-server.ts';
import { createKubeClient } from '../../../src/kube/https-client.ts';
import { listWatch } from '../../../src/kube/list-watch.ts';
import { pacing } from '../../../src/wire/pacing.ts';

/** The program waits for 90 s, because an API server says something every minute. */
const stallMs = 1000;

export interface WatchedNames {
  /** Of what is there, as far as the watch has told. */
  readonly names: ReadonlySet<string>;
  /** `watch Stalled` */
  readonly troubles: readonly string[];
  stop(): Promise<void>;
}

/** Settled once it is synced. */
export async function watchNames(kubeconfig: string, path: string): Promise<WatchedNames> {
  const apiServer = await findApiServer({ kubeconfig, environment: {} });
  const client = createKubeClient(apiServer);
  const names = new Set<string>();
  const troubles: string[] = [];
  const add = ({ metadata }: KubeObject): void => void names.add(metadata.name ?? '');
  const health = listWatch(
    client,
    { path },
    {
      replaced: (all) => {
        names.clear();
        all.forEach(add);
      },
      changed: add,
      removed: ({ metadata }) => void names.delete(metadata.name ?? ''),
    },
    {
      ...pacing,
      stallMs,
      onTrouble: ({ phase, error }) => troubles.push(`${phase} ${error.reason}`),
    },
  );
  await health.synced;
  return {
    names,
    troubles,
    stop: async () => {
      health.stop();
      await health.stopped;
      client.close();
    },
  };
}
