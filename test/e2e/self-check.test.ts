// A policy or share reports a missing right of the install that it needs, with the rule to add.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { applyText, fileWith, mayDo, rulesIn } from './support/install-roles.ts';
import {
  configMap,
  namespaceObject,
  policy,
  roleBinding,
  share,
  source,
  type Ref,
} from './support/objects.ts';
import { person } from './support/people.ts';
import { reconcilerUser, Stage } from './support/stage.ts';

const install = (file: string): string => `manifests/install/${file}`;
const [bindFile, secretsFile, resourcesFile] = [
  install('21-reconciler-bind.yaml'),
  install('22-reconciler-secrets.yaml'),
  install('23-reconciler-resources.yaml'),
];
const clusterFile = install('20-reconciler.yaml');
const taken = [
  [bindFile, 'reeve-reconciler-bind', ['bind', 'clusterroles/view']],
  [secretsFile, 'reeve-reconciler-secrets', ['delete', 'secrets', '-A']],
  [resourcesFile, 'reeve-reconciler-resources', ['patch', 'configmaps', '-A']],
] as const;

const match = { names: ['sc-ns'] };
const hands = policy('sc-hands', { match, contents: { roleBindings: [roleBinding('sc', 'sc-staff')] } });
const provides = policy('sc-provides', { match, contents: { resources: [configMap('sc', { a: 'b' })] } });
const shares = share('sc-shares', {
  source: { namespace: 'reeve-shared', name: 'sc-source' },
  targets: match,
});
const hindered = [hands, provides, shares];
const refOf = ({ kind, metadata: { name } }: (typeof hindered)[number]): Ref => ({ kind, name });

describeCluster('rights that the install does not give', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, 'sc-');
  const account = person(cluster, reconcilerUser);
  let reeve: Reeve;

  const messageOf = async (ref: Ref): Promise<string> =>
    (await stage.mustGet(ref)).status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  const take = async (): Promise<void> => {
    for (const [file, role] of taken) await applyText(await fileWith(file, role, []), cluster);
    for (const [, , what] of taken) await mayDo(what, 'no', account);
  };
  const giveAll = async (): Promise<void> => {
    for (const [file] of taken) await applyText(await readFile(file, 'utf8'), cluster);
    for (const [, , what] of taken) await mayDo(what, 'yes', account);
  };

  beforeAll(async () => {
    await installReeve(cluster);
    await giveAll();
  });
  afterAll(async () => {
    await giveAll();
    await applyText(await readFile(clusterFile, 'utf8'), cluster);
    await stage.cleanUp();
    await reeve.stop();
  });

  it('missing rights are named at start as rules to paste, and the work goes on once they are granted', async () => {
    await take();
    await stage.applyInEmergency(namespaceObject('sc-ns'), source('sc-source', { a: 'b' }), ...hindered);
    reeve = await startReeve(cluster, { args: ['--secrets-rbac-failure-policy=Off'] });
    for (const each of hindered) {
      await inTime(async () => await stage.condition(refOf(each))).toBe('False InsufficientPermissions');
    }
    const rules = (await Promise.all(hindered.map(async (each) => await messageOf(refOf(each))))).flatMap(
      rulesIn,
    );
    expect(rules).toEqual([
      {
        role: 'reeve-reconciler-bind',
        file: bindFile,
        line: '- {apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], resourceNames: ["view"], verbs: [bind]}',
      },
      {
        role: 'reeve-reconciler-resources',
        file: resourcesFile,
        line: '- {apiGroups: [""], resources: ["configmaps"], verbs: [get, list, watch, create, patch, delete]}',
      },
      {
        role: 'reeve-reconciler-secrets',
        file: secretsFile,
        line: '- {apiGroups: [""], resources: ["secrets"], verbs: [get, list, watch, create, patch, delete]}',
      },
    ]);
    for (const { role, file, line } of rules) await applyText(await fileWith(file, role, [line]), cluster);
    // A watch that was refused waits for up to 30 s before it asks again.
    for (const each of hindered) {
      await inTime(async () => await stage.condition(refOf(each))).toBe('True Synced');
    }
    await giveAll();
  });

  it('missing rights do not stop objects that need other rights', async () => {
    const [file, role, what] = taken[0];
    await applyText(await fileWith(file, role, []), cluster);
    await mayDo(what, 'no', account);
    const both = policy('sc-both', {
      match,
      contents: {
        roleBindings: [roleBinding('sc-both', 'sc-staff')],
        resources: [configMap('sc-both', { a: 'b' })],
      },
    });
    await stage.apply(both);
    await eventually(async () => await stage.condition(refOf(both))).toBe('False InsufficientPermissions');
    const made = { kind: 'ConfigMap', namespace: 'sc-ns', name: 'sc-both' } as const;
    await eventually(async () => await stage.ownersOf(made)).toEqual(['NamespacePolicy/sc-both']);
    expect(await stage.get({ kind: 'RoleBinding', namespace: 'sc-ns', name: 'sc-both' })).toBeUndefined();
    await giveAll();
  });

  it('a removed right is noticed by the first refused write', async () => {
    await eventually(async () => await stage.condition(refOf(provides))).toBe('True Synced');
    const [file, role, what] = taken[2];
    await applyText(await fileWith(file, role, []), cluster);
    await mayDo(what, 'no', account);
    await stage.inEmergency('delete', 'configmap', 'sc', '-n', 'sc-ns');
    await eventually(async () => await messageOf(refOf(provides))).toContain(
      `(${resourcesFile}; with Helm: resourceKinds or intentAdapters): - {apiGroups: [""], resources: ["configmaps"]`,
    );
    expect(reeve.output).toContain(
      '"owner":"NamespacePolicy/sc-provides","reason":"InsufficientPermissions"',
    );
    expect(
      await reeve.metric(
        'reeve_reconcile_failures_total{kind="NamespacePolicy",reason="InsufficientPermissions"}',
      ),
    ).toBeGreaterThan(0);
    await giveAll();
  });

  it('a policy with existing: Repair names the missing right to patch namespaces', async () => {
    const shipped = await readFile(clusterFile, 'utf8');
    const [verbs, fewer] = ['[get, list, watch, patch]', '[get, list, watch]'];
    expect(shipped).toContain(`resources: [namespaces]\n    verbs: ${verbs}`);
    const repairing = (value: string) =>
      policy('sc-repairs', {
        match,
        existing: 'Repair',
        namespaces: { defaults: { labels: { [`sc-${value}`]: 'set' } } },
      });
    const repairs = repairing('a');
    const label = async (value: string) =>
      (await stage.mustGet({ kind: 'Namespace', name: 'sc-ns' })).metadata.labels?.[`sc-${value}`];
    await applyText(shipped.replace(verbs, fewer), cluster);
    await mayDo(['patch', 'namespaces'], 'no', account);
    await stage.apply(repairs);
    await eventually(async () => await stage.condition(refOf(repairs))).toBe('False InsufficientPermissions');
    expect(rulesIn(await messageOf(refOf(repairs)))).toEqual([
      {
        role: 'reeve-reconciler',
        file: clusterFile,
        line: '- {apiGroups: [""], resources: ["namespaces"], verbs: [patch]}',
      },
    ]);
    expect(await label('a')).toBeUndefined();
    await applyText(shipped, cluster);
    await mayDo(['patch', 'namespaces'], 'yes', account);
    // Reeve reconciles a changed policy at once. It sets another label, because a retry may have set the first one by now.
    await stage.apply(repairing('b'));
    await eventually(async () => await label('b')).toBe('set');
  });

  it('a role that the jail does not list is named by the policy that grants it', async () => {
    const role = 'sc-role';
    await stage.kubectl('create', 'clusterrole', role, '--verb=get', '--resource=pods');
    const bind = `  - {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [${role}], verbs: [bind]}`;
    const [file] = taken[0];
    await applyText((await readFile(file, 'utf8')).replace('rules:\n', `rules:\n${bind}\n`), cluster);
    await mayDo(['bind', `clusterroles/${role}`], 'yes', account);
    const jailed = policy('sc-jailed', {
      match,
      contents: { roleBindings: [roleBinding('sc-jailed', 'sc-staff', role)] },
    });
    await stage.apply(jailed);
    await eventually(async () => (await stage.failures(refOf(jailed))).join()).toMatch(
      /^sc-ns RoleBinding sc-jailed: Rejected, ValidatingAdmissionPolicy reeve-jail refuses it: Reeve hands out the ClusterRoles that its install lists/,
    );
    expect(await stage.get({ kind: 'RoleBinding', namespace: 'sc-ns', name: 'sc-jailed' })).toBeUndefined();
    await stage.kubectl('delete', 'clusterrole', role);
    await giveAll();
  });

  it('a misspelled ClusterRole gets a warning, and the status says first that it may not exist', async () => {
    const contents = { roleBindings: [roleBinding('sc-typo', 'sc-staff', 'viev')] };
    const typo = policy('sc-typo', { match, contents });
    expect(await stage.apply(typo)).toContain(
      'Warning: NamespacePolicy/sc-typo binds ClusterRole viev, which no other policy binds; did you mean view?\n',
    );
    await eventually(async () => await stage.condition(refOf(typo))).toBe('False InsufficientPermissions');
    expect(await messageOf(refOf(typo))).toMatch(
      /^ClusterRole viev \(did you mean view\?\) may not exist, so check the name first; Reeve's own account lacks rights/,
    );
    expect((await stage.failures(refOf(typo))).join()).toBe(
      'sc-ns RoleBinding sc-typo: RoleMissing, ClusterRole viev does not exist',
    );
  });

  it('rules without a webhook are reported', async () => {
    const rules = policy('sc-rules', {
      match,
      secrets: { maxBytes: 5 },
      rbac: { forbidWildcardRules: true },
    });
    await stage.apply(rules);
    await eventually(async () => await stage.condition(refOf(rules))).toBe('False HookNotInstalled');
    expect(await messageOf(refOf(rules))).toBe(
      'the rules in spec.secrets and spec.rbac are not enforced, because Reeve runs with --secrets-rbac-failure-policy=Off; ' +
        'set it to Ignore or Fail for all roles, or remove these rules',
    );
    await stage.apply(policy('sc-rules', { match }));
    await eventually(async () => await stage.condition(refOf(rules))).toBe('True Synced');
  });
});
