// Golden cases of intents: what each adapter gives for each id, or why it gives nothing.
//
// `npm run test:update` rewrites test/fixtures/intents; then read the difference.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { knownIntents, type IntentId } from '../../src/api/intents/intent-ids.ts';
import { parseSecurityIntent } from '../../src/api/intents/security-intent.ts';
import { workloadSelector, type WorkloadsSpec } from '../../src/api/intents/workloads.ts';
import { apiVersion } from '../../src/api/names.ts';
import { parseNamespacePolicy } from '../../src/api/namespace-policy/namespace-policy.ts';
import { stringifyYaml } from '../../src/base/yaml.ts';
import type { Intent, Rendering, Target } from '../../src/policy/intents/adapter.ts';
import { intentAdapters } from '../../src/policy/intents/adapters.ts';
import { groupKind } from '../../src/policy/terms/object-key.ts';

interface IntentCase {
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

const cases: Readonly<Record<IntentId, readonly IntentCase[]>> = {
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

function intentOf(id: string, spec: object = {}): Intent {
  const name = `the-${id.toLowerCase()}`;
  const parsed = parseSecurityIntent({
    apiVersion,
    kind: 'SecurityIntent',
    metadata: { name },
    spec: { id, ...spec },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return { name, ...parsed.intent.spec };
}

function targetOf({ workloads, isClusterWide = false }: IntentCase): Target {
  const selected = workloadSelector(workloads);
  if (!selected.ok) throw new Error(JSON.stringify(selected.problems));
  return {
    workloads: selected.selector,
    isClusterWide,
    settings: { tlsScanImage: 'registry.example.com/k8tls:v0.1.0' },
  };
}

/** By adapter: what it gives, or why nothing. Adapters of other ids are left out. */
function given(id: string, each: IntentCase): Readonly<Record<string, Rendering | string>> {
  const [intent, target] = [intentOf(id, each.spec), targetOf(each)];
  return Object.fromEntries(
    intentAdapters.flatMap((adapter) => {
      const support = adapter.supports(intent, target.workloads);
      if (support === false) return [];
      return [[adapter.id, support === true ? adapter.render(intent, target) : support] as const];
    }),
  );
}

const all = Object.entries(cases).flatMap(([id, list]) =>
  list.flatMap((each) =>
    Object.entries(given(id, each)).flatMap(([adapter, rendering]) =>
      typeof rendering === 'string' ? [] : [{ id, adapter, rendering, title: `${id}, ${each.title}` }],
    ),
  ),
);

describe.each(Object.entries(cases))('%s', (id, list) => {
  test('each adapter gives what its file in test/fixtures/intents says', async () => {
    const shown = Object.fromEntries(list.map((each) => [each.title, given(id, each)]));
    await expect(stringifyYaml(shown)).toMatchFileSnapshot(`../fixtures/intents/${id}.yaml`);
  });
});

test('each known id has a file, and no other file is there', () => {
  const files = readdirSync(join(import.meta.dirname, '../fixtures/intents'));
  expect(files.toSorted()).toEqual(Object.keys(knownIntents).map((id) => `${id}.yaml`));
});

describe.each(all)('$title: what $adapter gives', ({ adapter, rendering }) => {
  test('is accepted in a policy', () => {
    const { resources = [], serviceAccounts = [], namespaces } = rendering;
    const escaped = JSON.parse(JSON.stringify(resources).replaceAll('${', '$${')) as unknown;
    const parsed = parseNamespacePolicy({
      apiVersion,
      kind: 'NamespacePolicy',
      metadata: { name: 'bound' },
      spec: {
        contents: { resources: escaped, serviceAccounts },
        ...(namespaces === undefined ? {} : { namespaces }),
      },
    });
    expect(parsed).toMatchObject({ ok: true });
  });

  test('has only the kinds that the adapter provides', () => {
    const provides = intentAdapters.find(({ id }) => id === adapter)?.provides.map(groupKind);
    const kinds = rendering.resources?.map(groupKind) ?? [];
    expect(kinds.filter((kind) => provides?.includes(kind) !== true)).toEqual([]);
  });
});

test('no two adapters and no two intents give an object of the same kind and name', () => {
  const [one, other] = [intentOf('escapeToHost'), intentOf('escapeToHost')];
  const target = targetOf({ title: '' });
  const names = [one, { ...other, name: 'the-escapetohost-chroot' }]
    .flatMap((intent) =>
      intentAdapters
        .filter((each) => each.supports(intent, undefined) === true)
        .map((each) => each.render(intent, target)),
    )
    .flatMap(({ resources = [] }) => resources.map((each) => `${groupKind(each)}/${each.metadata.name}`));
  expect(names).toHaveLength(6);
  expect(new Set(names).size).toBe(names.length);
});

test('only an adapter without an image of a scanner lacks something', () => {
  const lacks = (tlsScanImage: string | undefined) =>
    intentAdapters.flatMap(({ id, lacks: check }) => (check?.({ tlsScanImage }) === undefined ? [] : [id]));
  expect(lacks('registry.example.com/k8tls:v0.1.0')).toEqual([]);
  expect(lacks(undefined)).toEqual(['tls-scan']);
});
