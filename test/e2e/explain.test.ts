// What `reeve explain` says agrees with what the reconciler and the webhook have done, object by object.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExplainOutput } from '../../src/inspect/output-schemas/explanation.ts';
import { until } from '../support/until.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { runCommand } from './support/command.ts';
import { inTime } from './support/in-time.ts';
import {
  configMap,
  namespaceObject,
  policy,
  roleBinding,
  type Ref,
  type WrittenObject,
} from './support/objects.ts';
import { grant, namespaceRules, person } from './support/people.ts';
import { secret, shareOf } from './support/secrets.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'ex-';
const canary = 'canary-5e1f';
const [full, bare] = [`${prefix}full`, `${prefix}bare`];
const [team, extra, share] = [`${prefix}team`, `${prefix}extra`, `${prefix}share`];

const teamSpec = {
  match: { namespaceSelector: { matchLabels: { [team]: 'yes' } } },
  namespaces: {
    required: { labels: { env: { values: ['dev', 'prod'] } } },
    immutable: { labels: ['env'] },
  },
  contents: {
    serviceAccounts: [{ name: 'default', imagePullSecrets: [share] }],
    roleBindings: [roleBinding("ad-${namespaceObject.metadata.labels['owner']}", 'readers')],
    resources: [
      configMap('settings', { key: 'value' }),
      // The API server stores `1` for it.
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'team' },
        spec: { hard: { 'requests.cpu': '1000m' } },
      },
    ],
  },
};

describeControllers('an explanation', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const alice = person(cluster, `${prefix}alice`, `${prefix}red`);
  const folder = mkdtempSync(join(tmpdir(), 'reeve-explain-'));
  withReeve(stage);
  afterAll(() => rmSync(folder, { recursive: true }));

  async function explain(
    ...args: readonly string[]
  ): Promise<ExplainOutput & { readonly code: number | null }> {
    const printed = await runCommand(['explain', ...args, '-o=json', `--kubeconfig=${cluster.kubeconfig}`]);
    expect(printed.stderr).toBe('');
    expect(printed.stdout).not.toContain(canary);
    expect(printed.stdout).not.toContain(Buffer.from(canary).toString('base64'));
    return { ...(JSON.parse(printed.stdout) as ExplainOutput), code: printed.code };
  }

  const conditionOf = async (name: string): Promise<string> => await stage.namespaceCondition(name);

  beforeAll(async () => {
    await stage.apply(
      namespaceObject(full, { [team]: 'yes', env: 'dev', owner: 'red', pull: 'yes' }),
      namespaceObject(bare, { [team]: 'yes', env: 'prd', pull: 'yse' }),
      {
        ...(configMap('settings', { mine: 'yes' }) as WrittenObject),
        metadata: { name: 'settings', namespace: bare },
      },
    );
    await stage.apply(
      policy(team, teamSpec),
      policy(extra, {
        match: { names: [bare] },
        contents: { resources: [configMap('settings', { other: 'yes' }), configMap('extra', {})] },
      }),
      secret({ name: share }, { token: canary }),
      shareOf(share, { namespaceSelector: { matchLabels: { pull: 'yes' } } }),
    );
    const statusOf = async (name: string): Promise<string> =>
      await stage.condition({ kind: 'NamespacePolicy', name });
    // The statuses of policies are written beside the conditions of namespaces.
    const states = async () =>
      [await conditionOf(full), await conditionOf(bare), await statusOf(team), await statusOf(extra)].join();
    await until(
      async () => (await states()) === 'True Synced,False AlreadyExists,False Conflicts,False Conflicts',
      async () => `other conditions than ${await states()}`,
    );
  });

  test('an explanation of a namespace says of each object what the reconciler has done with it', async () => {
    for (const namespace of [full, bare]) {
      const { code, providers = [], ready } = await explain(`namespace/${namespace}`);
      expect(code).toBe(0);
      expect(`${ready?.status} ${ready?.reason}`).toBe(await conditionOf(namespace));
      const explained = providers.flatMap(({ id, objects }) => objects.map((each) => ({ id, ...each })));
      for (const { id, object, outcome } of explained) {
        // The fields of a ServiceAccount do not make it Reeve's.
        if (object.kind === 'ServiceAccount') continue;
        const [owner] = await stage.ownersOf({ ...object, namespace } as Ref);
        expect([object.name, owner === id], outcome).toEqual([object.name, outcome === 'in sync']);
      }
      expect(explained.map(({ object, outcome }) => `${object.kind}/${object.name} ${outcome}`)).toEqual(
        namespace === full
          ? [
              'ConfigMap/settings in sync',
              'ResourceQuota/team in sync',
              'RoleBinding/ad-red in sync',
              'ServiceAccount/default in sync',
              `Secret/${share} in sync`,
            ]
          : [
              'ConfigMap/extra in sync',
              'ConfigMap/settings conflict',
              'ConfigMap/settings conflict',
              'ResourceQuota/team in sync',
              "RoleBinding/ad-${namespaceObject.metadata.labels['owner']} skipped",
              'ServiceAccount/default in sync',
            ],
      );
    }
  });

  test('an explanation of a namespace says why a share does not match, and which rule is violated as the status counts it', async () => {
    const { providers = [], rules = [] } = await explain(`namespace/${bare}`);
    expect(providers.find(({ id }) => id === `SecretShare/${share}`)).toMatchObject({
      matches: 'no',
      term: { found: 'label pull="yse"', accepted: '"yes"' },
    });
    const violated = rules.filter(({ outcome }) => outcome === 'violated').map(({ rule }) => rule);
    expect(violated).toEqual(['namespaces.required']);
    expect((await stage.mustGet({ kind: 'NamespacePolicy', name: team })).status?.violations).toBe(1);
  });

  test('an explanation of an object agrees with whether it is there', async () => {
    for (const namespace of [full, bare]) {
      const isThere = (await stage.get({ kind: 'Secret', name: share, namespace })) !== undefined;
      const { found, code, summary } = await explain(`secret/${share}`, '-n', namespace);
      expect([found, code]).toEqual([isThere, isThere ? 0 : 1]);
      expect(summary).toContain(
        isThere ? 'provides it, and it is in sync' : `there is no Secret ${bare}/${share}`,
      );
    }
  });

  test('an explanation of a ServiceAccount names the fields that a policy adds to it', async () => {
    const { summary } = await explain('serviceaccount/default', '-n', full);
    expect(summary).toBe(
      `ServiceAccount ${full}/default: NamespacePolicy/${team} adds imagePullSecrets ${share} to it, and it is in sync`,
    );
  });

  test('an explanation of a policy counts what its status counts, and finds the rights of Reeve', async () => {
    const { namespaces = [], providers: [shown] = [], rights = [] } = await explain(`policy/${team}`);
    const { status } = await stage.mustGet({ kind: 'NamespacePolicy', name: team });
    expect(namespaces).toEqual([bare, full]);
    expect(status?.matched).toBe(2);
    expect(shown?.objects.filter(({ outcome }) => outcome === 'conflict')).toHaveLength(
      status?.conflicts ?? 0,
    );
    const own = rights.filter(({ holder }) => holder === 'Reeve');
    expect(own.length).toBeGreaterThan(0);
    expect(new Set(own.map(({ outcome }) => outcome))).toEqual(new Set(['held']));
  });

  test('an explanation of a request gives the very refusal that the user has read', async () => {
    await grant(cluster, { name: `${prefix}namespaces`, rules: namespaceRules, groups: [`${prefix}red`] });
    const name = `${prefix}new`;
    const object = namespaceObject(name, { [team]: 'yes', env: 'prd' });
    const refused = async (): Promise<string> => (await stage.tryApply([object], alice)).stderr;
    await inTime(refused).toContain('denied the request');
    const kind = { group: '', version: 'v1', kind: 'Namespace' };
    const request = {
      uid: '1',
      kind,
      resource: { group: '', version: 'v1', resource: 'namespaces' },
      operation: 'CREATE',
      name,
      namespace: name,
      userInfo: { username: alice.as, groups: [`${prefix}red`, 'system:authenticated'] },
      object,
    };
    const file = join(folder, 'request.json');
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }),
    );
    const { code, allowed, refusal = '', rights = [] } = await explain(file);
    expect([code, allowed]).toEqual([1, false]);
    expect(refusal).toContain('namespaces.required');
    expect(await refused()).toContain(refusal);
    expect(rights).toContainEqual({
      holder: alice.as,
      right: `use on namespacepolicies.reeve.dev/${team}, to bring namespace ${name} under NamespacePolicy ${team}`,
      outcome: 'missing',
    });
  });

  describe('by a user who may read nothing', () => {
    test('an explanation by a user who may read nothing says what could not be read, and never that it is not there', async () => {
      const own = await cluster.clientKubeconfig(`${prefix}nobody`);
      const { code, stdout, stderr } = await runCommand(['explain', `ns/${full}`, `--kubeconfig=${own}`]);
      expect(code).toBe(3);
      expect(stdout).toBe('namespaces could not be read: this account may not read it\n');
      expect(stderr).toContain('NamespacePolicy could not be read: this account may not read it\n');
    });
  });
});
