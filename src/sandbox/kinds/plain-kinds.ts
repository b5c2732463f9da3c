// Defines Namespaces, and the namespaced kinds that the sandbox only stores.
import { namespaceName } from '../../schema/common-fields.ts';
import { namespaceNameLabel } from '../../schema/names.ts';
import { labelSelector } from '../../api/namespace-policy/match.ts';
import { withDefault } from '../../schema/build.ts';
import { valueAt } from '../../schema/report.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Column, Resource } from '../resource.ts';
import { age, column, itemsAt, keysAt, textAt } from './column.ts';
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
} from './shape.ts';

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
