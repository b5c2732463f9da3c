// Defines Namespaces, and the namespaced kinds that the sandbox only stores.
import { labelSelector } from '../../schema/selector.ts';
import { namespaceName } from '../../schema/common-fields.ts';
import { namespaceNameLabel } from '../../schema/names.ts';
import { withDefault, text, type MapSchema, type SchemaRule, type TextSchema } from '../../schema/schema.ts';
import { valueAt } from '../../schema/validate.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { type Column, type Resource, apiVersionOf } from '../resource.ts';
import { age, column, itemsAt, keysAt, textAt, sizeColumn } from './column.ts';
import { define } from './define.ts';
import {
  anything,
  anyText,
  fields,
  flag,
  oneOf,
  open,
  several,
  severalBy,
  someText,
  texts,
  whole,
  textMap,
  ruled,
} from './shape.ts';
import { isJsonObject } from '../../base/json.ts';
import type { Path } from '../../base/problem.ts';
import { isDeepStrictEqual } from 'node:util';
import type { SandboxStore } from '../store.ts';

export const namespaceKind = define('', 'Namespace', {
  description: 'A scope for names, rights and quotas.',
  shortNames: ['ns'],
  isNamespaced: false,
  subresources: ['status', 'finalize'],
  columns: [column('Status', '.status.phase'), age],
  name: namespaceName(''),
  optional: {
    spec: fields({}, { finalizers: texts }),
    status: open({ phase: anyText, conditions: severalBy('type', anything) }),
  },
  /** https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetes-io-metadata-name */
  finish: (object, stored) => {
    const { name, labels } = object.metadata;
    const own = name === undefined ? {} : { [namespaceNameLabel]: name };
    const marked = { ...object, metadata: { ...object.metadata, labels: { ...labels, ...own } } };
    if (stored !== undefined) return marked;
    const finalizers = [...new Set([...itemsAt(object, 'spec', 'finalizers'), 'kubernetes'])];
    return { ...marked, spec: { finalizers }, status: { phase: 'Active' } };
  },
});

export const serviceAccountKind = define('', 'ServiceAccount', {
  description: 'An identity for programs.',
  shortNames: ['sa'],
  subresources: ['token'],
  columns: [age],
  isOpen: true,
  optional: { secrets: severalBy('name', anything) },
});

const resourceQuota = define('', 'ResourceQuota', {
  description: 'Limits what a namespace uses in total. The sandbox stores it and counts nothing.',
  shortNames: ['quota'],
  subresources: ['status'],
  // The amounts stand in the status, which the sandbox does not compute, so the cells stay empty.
  columns: [column('Request', () => ''), column('Limit', () => ''), age],
  optional: { spec: anything, status: anything },
});

const limitRange = define('', 'LimitRange', {
  description: 'Limits and defaults for what one object uses. The sandbox stores it.',
  shortNames: ['limits'],
  optional: { spec: anything },
});

const ports = several(open({ protocol: withDefault(oneOf('TCP', 'UDP', 'SCTP'), 'TCP') }));
const networkPolicySpec = open({
  podSelector: withDefault(labelSelector, {}),
  ingress: several(open({ ports })),
  egress: several(open({ ports })),
  policyTypes: several(oneOf('Ingress', 'Egress')),
});

const networkPolicy = define('networking.k8s.io', 'NetworkPolicy', {
  description: 'The network traffic that pods allow. The sandbox stores it.',
  plural: 'networkpolicies',
  shortNames: ['netpol'],
  hasGeneration: true,
  columns: [column('Pod-Selector', ({ spec }) => selectorText(spec)), age],
  optional: { spec: withDefault(networkPolicySpec, { podSelector: {} }) },
  /** https://kubernetes.io/docs/concepts/services-networking/network-policies/#networkpolicy-resource */
  finish: (policy) => {
    if (itemsAt(policy, 'spec', 'policyTypes').length > 0) return policy;
    const policyTypes = ['Ingress', ...(itemsAt(policy, 'spec', 'egress').length > 0 ? ['Egress'] : [])];
    return { ...policy, spec: Object.assign({}, policy['spec'], { policyTypes }) };
  },
});

function selectorText(spec: unknown): string {
  const path = ['podSelector', 'matchLabels'];
  const labels = keysAt(spec, ...path).map((key) => `${key}=${textAt(spec, ...path, key)}`);
  const others = itemsAt(spec, 'podSelector', 'matchExpressions').map((term) => JSON.stringify(term));
  return [...labels, ...others].join(',') || '<none>';
}

const lease = define('coordination.k8s.io', 'Lease', {
  description: 'A lock with a holder and a time, for the election of a leader.',
  columns: [column('Holder', '.spec.holderIdentity'), age],
  optional: { spec: open({ leaseDurationSeconds: whole(1) }) },
});

const container = { ...open({ name: someText, env: severalBy('name', anything) }), required: ['name'] };
const podSpec = open({
  containers: { ...severalBy('name', container), minItems: 1 },
  initContainers: severalBy('name', container),
  volumes: severalBy('name', anything),
  restartPolicy: oneOf('OnFailure', 'Never'),
});
const podTemplate = open({ spec: { ...podSpec, required: ['containers', 'restartPolicy'] } });

const job = define('batch', 'Job', {
  description: 'Runs Pods until they succeed. The sandbox stores it and runs nothing.',
  categories: ['all'],
  subresources: ['status'],
  hasGeneration: true,
  columns: [
    column('Status', (one) => (valueAt(one, ['spec', 'suspend']) === true ? 'Suspended' : 'Running')),
    column('Completions', (one) => `0/${String(valueAt(one, ['spec', 'completions']))}`),
    column('Duration', () => ''),
    age,
    containerColumn('Containers', 'name'),
    containerColumn('Images', 'image'),
    // The API server makes the selector of a Job from its uid; without Pods, the sandbox needs none.
    column('Selector', () => '<none>', { priority: 1 }),
  ],
  needed: {
    spec: {
      ...open({
        template: { ...podTemplate, required: ['spec'] },
        parallelism: withDefault(whole(), 1),
        completions: withDefault(whole(), 1),
        backoffLimit: withDefault(whole(), 6),
        completionMode: withDefault(oneOf('NonIndexed', 'Indexed'), 'NonIndexed'),
        suspend: withDefault(flag, false),
      }),
      required: ['template'],
    },
  },
  optional: { status: anything },
  /** https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-template */
  unchanging: ['spec.template'],
});

function containerColumn(name: string, field: string): Column {
  const path = ['spec', 'template', 'spec', 'containers'];
  const cell = (one: KubeObject): string =>
    itemsAt(one, ...path)
      .map((each) => textAt(each, field))
      .join(',');
  return column(name, cell, { priority: 1 });
}

const others = [resourceQuota, limitRange, networkPolicy, lease, job];
export const plainKinds: readonly Resource[] = [namespaceKind, serviceAccountKind, ...others];

// Defines Secrets and ConfigMaps: their keys, their sizes, and the data that each type of Secret must hold.
// https://kubernetes.io/docs/concepts/configuration/secret/#secret-types

const maxDataBytes = 1024 * 1024;
const accepted = "a key of alphanumeric characters, '-', '_' or '.', which does not start with '..'";
const pattern = '^(?!\\.$|\\.\\.)[-._a-zA-Z0-9]+$';
const dataKey = text({ description: '', maxLength: 253, pattern, accepted });
/** Go ignores line breaks: https://pkg.go.dev/encoding/base64#Encoding.Decode */
const base64 = ruled(anyText, 'illegal base64 data', (given) =>
  recoded(given, 'base64') === given.replaceAll(/[\r\n]/g, '') ? undefined : [],
);

function dataOf(values: TextSchema, encoding: BufferEncoding): MapSchema<string> {
  return ruled(textMap(dataKey, values), `must have at most ${maxDataBytes} bytes`, (data) => {
    const sizes = Object.values(data).map((value) => Buffer.byteLength(value, encoding));
    return sizes.reduce((sum, size) => sum + size, 0) > maxDataBytes ? [] : undefined;
  });
}

const data = dataOf(base64, 'base64');
const stringData = textMap(anyText, anyText);

const secret = define('', 'Secret', {
  description: 'Secret data, of at most 1 MiB.',
  columns: [column('Type', '.type'), sizeColumn('Data', '.data'), age],
  optional: { immutable: flag, data, stringData, type: withDefault(anyText, 'Opaque') },
  unchanging: ['type'],
  finish: ({ stringData: written, ...object }) => {
    const entries = [...recodedMembers(object['data'], 'base64'), ...recodedMembers(written, 'utf8')];
    return entries.length === 0 ? object : { ...object, data: Object.fromEntries(entries) };
  },
  constraints: [
    needs('tls', ['data', 'tls.crt']),
    needs('tls', ['data', 'tls.key']),
    needs('dockerconfigjson', ['data', '.dockerconfigjson'], isJson),
    needs('ssh-auth', ['data', 'ssh-privatekey']),
    needs('basic-auth', ['data', 'username'], (_, object) => keysAt(object, 'data').length > 0),
    needs('basic-auth', ['data', 'password'], (_, object) => keysAt(object, 'data').length > 0),
    needs('service-account-token', ['metadata', 'annotations', 'kubernetes.io/service-account.name']),
  ],
});

function needs(
  type: string,
  path: Path,
  isMet: (value: unknown, object: object) => boolean = (value) => value !== undefined,
): SchemaRule<object> {
  const isMeant = (object: object): boolean => textAt(object, 'type') === `kubernetes.io/${type}`;
  return {
    accepted: `what a Secret of type kubernetes.io/${type} must hold`,
    offender: (object) => (isMeant(object) && !isMet(valueAt(object, path), object) ? path : undefined),
  };
}

function isJson(base64Text: unknown): boolean {
  try {
    return isJsonObject(JSON.parse(Buffer.from(String(base64Text), 'base64').toString()));
  } catch {
    return false;
  }
}

function recodedMembers(part: unknown, from: BufferEncoding): readonly (readonly [string, string])[] {
  return keysAt(part).map((key) => [key, recoded(textAt(part, key), from)] as const);
}

function recoded(given: string, from: BufferEncoding): string {
  return Buffer.from(given, from).toString('base64');
}

const configMap = define('', 'ConfigMap', {
  description: 'Data that is not secret, of at most 1 MiB.',
  shortNames: ['cm'],
  columns: [sizeColumn('Data', '.data', '.binaryData'), age],
  optional: { immutable: flag, data: dataOf(anyText, 'utf8'), binaryData: data },
  constraints: [
    {
      accepted: 'must not be in binaryData too',
      offender: (object) => {
        const twice = keysAt(object, 'data').find((key) => keysAt(object, 'binaryData').includes(key));
        return twice === undefined ? undefined : ['data', twice];
      },
    },
  ],
});

export const dataKinds: readonly Resource[] = [secret, configMap];

// Defines Events in both of their groups, in which some fields have different names.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/

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
