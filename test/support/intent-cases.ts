// Intents with and without workloads, and what the adapters give for them.
import { kinds } from '../../src/api/kinds.ts';
import type { IntentId } from '../../src/api/intents/intent-ids.ts';
import { workloadSelector, type WorkloadsSpec } from '../../src/api/intents/workloads.ts';
import { apiVersion } from '../../src/schema/names.ts';
import type { Intent, Rendering, Target } from '../../src/policy/intents/adapter.ts';
import { intentAdapters } from '../../src/policy/intents/adapters.ts';

export interface IntentCase {
  readonly title: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly workloads?: WorkloadsSpec;
  readonly isClusterWide?: boolean;
}

const nginx: WorkloadsSpec = { matchLabels: { app: 'nginx' } };
const withoutDefault: WorkloadsSpec = { cel: ["labels.app in ['nginx', 'httpd'] && labels.tier != 'test'"] };
const audit = { action: 'Audit' };
const described = {
  severity: 'High',
  description: 'Costs ${5} of {{ trust }}.',
  tags: ['NIST', 'PCI-DSS'],
};

const everywhere: readonly IntentCase[] = [
  { title: 'Block for all Pods' },
  { title: 'Block for some Pods', workloads: nginx },
  { title: 'Audit for all Pods', spec: audit },
  { title: 'Audit for some Pods', spec: audit, workloads: nginx },
  { title: 'Warn for some Pods', spec: { action: 'Warn' }, workloads: nginx },
];

export const intentCases: Readonly<Record<IntentId, readonly IntentCase[]>> = {
  assessTLS: [
    ...everywhere,
    {
      title: 'a schedule and addresses',
      spec: {
        params: {
          schedule: '0 3 * * 0',
          externalAddresses: ['shop.example.com:443', '[2001:db8::1]:8443'],
        },
      },
    },
    {
      title: 'one namespace, for a binding of the cluster',
      spec: { params: { namespace: 'tls-scans' } },
      isClusterWide: true,
    },
    { title: 'one namespace, for a binding of a namespace', spec: { params: { namespace: 'tls-scans' } } },
  ],
  cocoWorkload: [
    ...everywhere,
    { title: 'a runtime class', spec: { params: { runtimeClass: 'kata-qemu' } } },
  ],
  denyExternalNetworkAccess: [
    ...everywhere,
    { title: 'ranges', spec: { params: { ranges: ['10.1.0.0/16', 'fd00::/8'] } } },
  ],
  dnsManipulation: everywhere,
  escapeToHost: [
    ...everywhere,
    { title: 'Warn for all Pods', spec: { action: 'Warn' } },
    { title: 'a level for all Pods', spec: { params: { psaLevel: 'restricted' } } },
    { title: 'a level for some Pods', spec: { params: { psaLevel: 'restricted' } }, workloads: nginx },
    { title: 'words for people', spec: described, workloads: nginx },
  ],
  exploitPFA: everywhere,
  preventExecutionFromTempOrLogsFolders: everywhere,
  swDeploymentTools: [
    ...everywhere,
    { title: 'one of several labels', workloads: { cel: ["labels.app in ['nginx', 'httpd']"] } },
    {
      title: 'none of several labels',
      workloads: { cel: ["labels.app != 'nginx' && labels.tier != 'test'"] },
    },
    { title: 'conditions that KubeArmor cannot join', workloads: withoutDefault },
    { title: 'the mere label', workloads: { cel: ['has(labels.app)'] } },
    {
      title: 'a label of KubeArmor',
      workloads: { matchLabels: { 'kubearmor.io/container.name': 'nginx' } },
    },
  ],
  unAuthorizedSaTokenAccess: everywhere,
  virtualPatch: [{ title: 'Block for all Pods' }],
};

export function intentOf(id: string, spec: object = {}): Intent {
  const name = `the-${id.toLowerCase()}`;
  const parsed = kinds.SecurityIntent.parse({
    apiVersion,
    kind: 'SecurityIntent',
    metadata: { name },
    spec: { id, ...spec },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return { name, ...parsed.value.spec };
}

export function targetOf({ workloads, isClusterWide = false }: IntentCase): Target {
  const selected = workloadSelector(workloads);
  if (!selected.ok) throw new Error(JSON.stringify(selected.problems));
  return {
    workloads: selected.selector,
    isClusterWide,
    settings: { resourceKinds: undefined, tlsScanImage: 'registry.example.com/k8tls:v0.1.0' },
  };
}

/** By adapter: what it gives, or why nothing. Adapters of other ids are left out. */
export function rendered(id: string, each: IntentCase): Readonly<Record<string, Rendering | string>> {
  const [intent, target] = [intentOf(id, each.spec), targetOf(each)];
  return Object.fromEntries(
    intentAdapters.flatMap((adapter) => {
      const support = adapter.supports(intent, target.workloads);
      if (support === false) return [];
      return [[adapter.id, support === true ? adapter.render(intent, target) : support] as const];
    }),
  );
}

/** Each rendering of each case. */
export const intentRenderings = Object.entries(intentCases).flatMap(([id, list]) =>
  list.flatMap((each) =>
    Object.entries(rendered(id, each)).flatMap(([adapter, rendering]) =>
      typeof rendering === 'string' ? [] : [{ id, adapter, rendering, title: `${id}, ${each.title}` }],
    ),
  ),
);
