// `reeve plan` on a real API server: it lists exactly the writes that the audit log then has of the reconciler.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlanOutput } from '../../src/inspect/output-schemas/plan-output.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { configMap, type WrittenObject } from './support/objects.ts';
import { Rounds } from './support/rounds.ts';
import { base64, secret, shareOf, shareRef } from './support/secrets.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'pl-';
const namespace = `${prefix}team`;

function binding(name: string, role: string, ...groups: readonly string[]) {
  const subjects = groups.map((group) => ({ kind: 'Group', name: group }));
  return { name, roleRef: { kind: 'ClusterRole', name: role }, subjects };
}

const quota = (pods: string) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'team' },
  // The API server stores `1` and `1Gi` for these.
  spec: { hard: { 'requests.cpu': '1000m', 'requests.memory': '1024Mi', pods } },
});
const network = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'team' },
  spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
};

const before = {
  roleBindings: [
    binding('admins', 'view', 'a'),
    binding('developers', 'edit', 'a'),
    binding('old', 'view', 'a'),
  ],
  resources: [
    quota('5'),
    network,
    configMap('settings', { kept: 'one', dropped: 'two' }),
    configMap('same', { key: 'value' }),
  ],
};
const after = {
  roleBindings: [
    binding('admins', 'edit', 'a'),
    binding('developers', 'edit', 'a', 'b'),
    binding('new', 'view', 'a'),
  ],
  resources: [
    quota('6'),
    network,
    configMap('settings', { kept: 'one' }),
    configMap('same', { key: 'value' }),
    configMap('taken', {}),
  ],
};

const plurals: Readonly<Record<string, string>> = {
  RoleBinding: 'rolebindings.rbac.authorization.k8s.io',
  ResourceQuota: 'resourcequotas',
  NetworkPolicy: 'networkpolicies.networking.k8s.io',
  ConfigMap: 'configmaps',
  Secret: 'secrets',
};

describeControllers('a plan', () => {
  const stage = new Stage(sharedCluster(), prefix);
  const rounds = new Rounds(stage);
  const namesakes = new Namesakes(stage, prefix);
  withReeve(stage);
  let folder: string;

  const share = (...namespaces: readonly string[]) => shareOf(`${prefix}cred`, { names: [...namespaces] });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-plan-'));
    await rounds.begin(prefix);
    await stage.apply(secret({ name: `${prefix}cred` }, { kept: 'canary-one', dropped: 'canary-two' }));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function plan(
    objects: readonly WrittenObject[],
    ...more: readonly string[]
  ): Promise<{ code: number | null; plan: PlanOutput; text: string }> {
    const file = join(folder, 'files.json');
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    const { kubeconfig } = stage.cluster;
    const args = ['plan', '-f', file, `--kubeconfig=${kubeconfig}`, `--only=ns/${namespace}`];
    await using process = new ReeveProcess([...args, ...more, '-o', 'json', '--exit-code']);
    const { code, stdout, stderr } = await process.ended();
    expect(stderr).toBe('');
    return { code, plan: JSON.parse(stdout) as PlanOutput, text: stdout };
  }

  /** As the audit log names the requests. */
  function requestsOf({ namespaces }: PlanOutput): readonly string[] {
    return namespaces.flatMap(({ changes }) =>
      changes.flatMap(({ action, object }) => {
        const what = `${plurals[object?.kind ?? ''] ?? ''} ${object?.name ?? ''}`;
        if (action === 'delete') return [`delete ${what}`];
        if (action === 're-create') return [`delete ${what}`, `patch ${what}`];
        return action === 'create' || action === 'update' ? [`patch ${what}`] : [];
      }),
    );
  }

  test('a plan of what is applied already has no change, whatever form the API server gave to values', async () => {
    await namesakes.provide('team', before);
    await stage.apply(share(namespace));
    await inTime(() => stage.condition(shareRef(`${prefix}cred`))).toBe('True Synced');
    await rounds.pass(namespace);
    const { code, plan: found } = await plan([namesakes.policy('team', before), share(namespace)]);
    expect({ code, namespaces: found.namespaces }).toEqual({ code: 0, namespaces: [] });
  });

  test('a plan counts what existing Roles and RoleBindings violate, and Secrets only with --secrets', async () => {
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }];
    const role: WrittenObject = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'all', namespace },
      rules,
    };
    await stage.apply(role, secret({ name: 'token', namespace }, { key: 'canary-three' }));
    const policy: WrittenObject = {
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'NamespacePolicy',
      metadata: { name: `${prefix}rules` },
      spec: {
        match: { names: [namespace] },
        validationActions: ['Deny'],
        rbac: { forbidWildcardRules: true, allowedRoleRefs: ['ClusterRole/edit'] },
        secrets: { allowedTypes: ['kubernetes.io/tls'] },
      },
    };
    const violationsOf = async (...more: readonly string[]) => {
      const { plan: found, text } = await plan([policy], ...more);
      expect(text).not.toContain(base64('canary-three'));
      return found.violations.filter(({ policy: id }) => id === `NamespacePolicy/${prefix}rules`);
    };
    expect(await violationsOf()).toMatchObject([
      {
        known: 0,
        byKind: { Role: 1, RoleBinding: 2 },
        unjudged: [{ kind: 'Secret', reason: '--secrets judges them' }],
      },
    ]);
    // The copy of the share is the other Secret.
    expect(await violationsOf('--secrets')).toMatchObject([
      { known: 0, byKind: { Role: 1, RoleBinding: 2, Secret: 2 }, unjudged: [] },
    ]);
  });

  test('a plan lists exactly the writes that the reconciler then makes', async () => {
    await stage.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'taken', namespace } });
    const files = [namesakes.policy('team', after), share(`${prefix}none`)];
    const { code, plan: found, text } = await plan(files);
    expect(code).toBe(2);
    const [{ changes } = { changes: [] }] = found.namespaces;
    expect(
      changes.map(({ action, object, certain }) => `${action} ${object?.kind}/${object?.name} ${certain}`),
    ).toEqual([
      'create RoleBinding/new true',
      'update ConfigMap/settings true',
      'update ResourceQuota/team true',
      'update RoleBinding/developers true',
      're-create RoleBinding/admins true',
      'delete RoleBinding/old true',
      'delete Secret/pl-cred true',
      'conflict ConfigMap/taken true',
    ]);
    expect(changes.flatMap(({ diff = [] }) => diff)).toContainEqual({
      path: 'data.dropped',
      change: 'removed',
      before: '"two"',
    });
    for (const value of ['canary-one', 'canary-two']) {
      expect(text).not.toContain(value);
      expect(text).not.toContain(base64(value));
    }
    const earlier = await rounds.writes(namespace);
    await stage.apply(...files);
    await rounds.pass(namespace);
    const writes = (await rounds.writes(namespace)).slice(earlier.length);
    expect([...new Set(writes)].sort()).toEqual([...requestsOf(found)].sort());
  });
});
