// Reads the warnings about the Pods of Reeve since its install, without those that only a slow machine causes.
import type { NodeRig } from '../../cluster/node/rig.ts';
import { reeveNamespace } from '../../cluster/reeve-install.ts';
import { mustKubectl } from '../../support/kubectl.ts';

/** In the chart, the first probe asks 2 s after the start. Reeve answers probes some time after its first line of the log. */
const quickMs = 1500;

interface EventObject {
  readonly message: string;
  readonly involvedObject: { readonly name: string };
}

interface PodObject {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly containerStatuses: readonly {
      readonly state: { readonly running?: { readonly startedAt: string } };
    }[];
  };
}

export async function warningsOfStart({ cluster }: NodeRig): Promise<readonly string[]> {
  const from = ['-n', reeveNamespace];
  const list = async <T>(...what: readonly string[]): Promise<readonly T[]> => {
    const text = await mustKubectl(['get', ...what, ...from, '-o=json'], cluster);
    return (JSON.parse(text) as { readonly items: readonly T[] }).items;
  };
  const slow = new Set<string>();
  for (const { metadata, status } of await list<PodObject>('pods')) {
    const log = await mustKubectl(
      ['logs', metadata.name, ...from, '--timestamps', '--limit-bytes=200'],
      cluster,
    );
    const startedAt = status.containerStatuses[0]?.state.running?.startedAt ?? '';
    // The API server rounds the start down to a second.
    if (Date.parse(log.split(' ')[0] ?? '') - Date.parse(startedAt) > quickMs) slow.add(metadata.name);
  }
  return (await list<EventObject>('events', '--field-selector=type=Warning'))
    .filter(({ involvedObject }) => !slow.has(involvedObject.name))
    .map(({ message, involvedObject }) => `${involvedObject.name}: ${message}`);
}
