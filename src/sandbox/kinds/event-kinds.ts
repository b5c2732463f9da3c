// Defines Events in both of their groups, in which some fields have different names.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/kube-object.ts';
import { apiVersionOf, type Resource } from '../resource.ts';
import type { SandboxStore } from '../store.ts';
import { column, textAt } from './column.ts';
import { define } from './define.ts';

const newNames = new Map([
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
]);
const coreNames = new Map(Array.from(newNames, ([core, newer]) => [newer, core]));

const columns = [
  column('Last Seen', (event) => textAt(event, 'lastTimestamp') || textAt(event, 'eventTime'), {
    type: 'date',
  }),
  column('Type', '.type'),
  column('Reason', '.reason'),
  column(
    'Object',
    ({ involvedObject: about }) => `${textAt(about, 'kind').toLowerCase()}/${textAt(about, 'name')}`,
  ),
  column('Message', '.message'),
];

const description = 'A report of something that happened to an object.';
const common = { description, shortNames: ['ev'], isOpen: true };
export const coreEventKind = define('', 'Event', { ...common, columns });
export const newEventKind = define('events.k8s.io', 'Event', {
  ...common,
  columns: columns.map((one) => ({ ...one, cell: (event) => one.cell(formOf(event, coreEventKind)) })),
});

function formOf(event: KubeObject, resource: Resource): KubeObject {
  const names = resource.group === '' ? coreNames : newNames;
  const entries = Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value] as const);
  return { ...Object.fromEntries(entries), apiVersion: apiVersionOf(resource), metadata: event.metadata };
}

/** Copies every change of an Event in one group to its twin in the other group. */
export function mirroringEvents(store: SandboxStore): SandboxStore {
  store.subscribe(({ resource, object: { metadata } }) => {
    if (resource !== coreEventKind && resource !== newEventKind) return;
    const other = resource === newEventKind ? coreEventKind : newEventKind;
    const at = [metadata.namespace, metadata.name ?? ''] as const;
    const [here, there] = [store.get(resource, ...at), store.get(other, ...at)];
    if (here === undefined) {
      if (there !== undefined) store.remove(other, there);
      return;
    }
    const { resourceVersion } = there?.metadata ?? {};
    const twin = formOf({ ...here, metadata: { ...here.metadata, resourceVersion } }, other);
    if (!isDeepStrictEqual(twin, there)) store.put(other, twin, there);
  });
  return store;
}
