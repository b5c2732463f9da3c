// Adds to each entry of a report whom to ask, the labels of its namespace, and when its object was last written.
import { type KubeObject, labelsOf, valueOf } from '../../base/metadata.ts';
import { ownMember } from '../../base/json.ts';
import { namespaceOfProvider, parseProviderId, providerRef } from '../../policy/terms/provider-id.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { namespaceType } from '../input/loaded-state.ts';
import type { ReportEntry } from '../output-schemas/report-output.ts';

export function entryFacts(state: ClusterState, cluster: LiveCluster): (entry: ReportEntry) => ReportEntry {
  const contacts = new Map<string, string | undefined>(
    [...cluster.providers()].map(({ state: { id }, definition }) => [id, definition?.compiled.contact]),
  );
  return (entry) => {
    const { policy, namespace, object } = entry;
    const namespaceObject = namespace === undefined ? undefined : state.find(namespaceType, '', namespace);
    const live = object && state.find(object, object.namespace ?? '', object.name);
    const contact = contacts.get(policy);
    const labels = labelsOf(namespaceObject);
    const team = valueOf(labels, state.install.teamLabel);
    const written = writtenAt(live ?? namespaceObject ?? providerObject(policy, state));
    return {
      ...entry,
      ...(contact === undefined ? {} : { contact }),
      ...(team === undefined ? {} : { team }),
      ...(namespaceObject === undefined ? {} : { labels }),
      ...(written === undefined ? {} : { written }),
    };
  };
}

function providerObject(policy: string, state: ClusterState): KubeObject | undefined {
  const id = parseProviderId(policy);
  if (id === undefined) return undefined;
  const ref = providerRef(id);
  return state.find(ref, namespaceOfProvider(id) ?? '', ref.name);
}

/** A write of the status alone says nothing about when the object came to be as it is. */
function writtenAt(object: KubeObject | undefined): string | undefined {
  const fields = object?.metadata['managedFields'];
  const writes: readonly unknown[] = Array.isArray(fields) ? fields : [];
  const times = [
    object?.metadata.creationTimestamp,
    ...writes.flatMap((each) =>
      ownMember(each, 'subresource') === undefined ? [ownMember(each, 'time')] : [],
    ),
  ];
  return times
    .filter((time) => typeof time === 'string')
    .toSorted()
    .at(-1);
}
