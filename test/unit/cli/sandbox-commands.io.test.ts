// Commands on the API server in memory: what they read by name, whom they ask about rights, and what they print of its texts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ClusterAccess } from '../../cluster/cluster-access.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { runCommand } from '../../e2e/support/command.ts';
import { grant } from '../../e2e/support/people.ts';
import { mustKubectl } from '../../support/kubectl.ts';
import { schemaProblems } from '../../support/json-schema-problems.ts';
import { startSandboxPlane } from '../../support/sandboxes.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-commands-'));
let plane: Awaited<ReturnType<typeof startSandboxPlane>>;
let cluster: ClusterAccess;

beforeAll(async () => {
  plane = await startSandboxPlane();
  cluster = new ClusterAccess(plane.provided.folder, plane.provided);
  await installReeve(cluster);
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
});
afterAll(async () => {
  await plane.stop();
  rmSync(folder, { recursive: true });
});

async function apply(...items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await mustKubectl(['apply', '-f', '-'], { kubeconfig: cluster.kubeconfig, input });
}

function fileOf(...objects: readonly object[]): string {
  const path = join(folder, 'objects.yaml');
  writeFileSync(path, objects.map((each) => JSON.stringify(each)).join('\n---\n'));
  return path;
}

interface AuditRecord {
  readonly verb: string;
  readonly objectRef: { readonly resource: string; readonly namespace?: string; readonly name?: string };
}

function audited(resource: string): readonly string[] {
  const lines = readFileSync(join(plane.provided.folder, 'audit.log'), 'utf8').trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as AuditRecord)
    .filter(({ objectRef }) => objectRef.resource === resource)
    .map(({ verb, objectRef: { namespace = '', name = '' } }) => `${verb} ${namespace}/${name}`);
}

function policy(name: string, spec: object): object {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: { name }, spec };
}

const rbac = 'rbac.authorization.k8s.io';
const secret = (name: string, namespace: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData: { a: 'b' },
});

describe('check -f --cluster', () => {
  const checkAs = async (kubeconfig: string, ...objects: readonly object[]) =>
    await runCommand(['check', '-f', fileOf(...objects), '--cluster', '--kubeconfig', kubeconfig]);
  const check = async (...objects: readonly object[]) => await checkAs(cluster.kubeconfig, ...objects);

  test('a share whose source is missing has a warning until the Secret exists', async () => {
    const share = {
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'SecretShare',
      metadata: { name: 'pull' },
      spec: { source: { namespace: 'reeve-shared', name: 'pull' }, targets: { namespaceSelector: {} } },
    };
    const warning = 'Secret reeve-shared/pull does not exist; the share copies nothing until it does';
    expect((await check(share)).stdout).toContain(`warning: share pull: ${warning}`);
    await apply(secret('pull', 'reeve-shared'));
    expect((await check(share)).stdout).not.toContain(warning);
  });

  test('an object of the files is read by its name, and judged as the change that it is', async () => {
    const role = {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: 'all', namespace: 'shop' },
      rules: [{ apiGroups: [''], resources: ['*'], verbs: ['get'] }],
    };
    await apply(policy('guard', { rbac: { forbidWildcardRules: true } }), role, secret('other', 'shop'));
    const before = { roles: audited('roles').length, secrets: audited('secrets').length };
    const { code, stdout } = await check(role, { ...role, metadata: { ...role.metadata, name: 'new' } });
    expect(code).toBe(1);
    expect(stdout).toContain(
      'problem: Role shop/new: policy guard, rbac.forbidWildcardRules: rules[0].resources',
    );
    expect(stdout).not.toContain('shop/all');
    expect(audited('roles').slice(before.roles)).toEqual(['get shop/all', 'get shop/new']);
    expect(audited('secrets').slice(before.secrets)).toEqual([]);
  });

  test('an account that may not read the policies does not find out whether all is well', async () => {
    const nobody = await cluster.clientKubeconfig('check-nobody');
    const good = policy('good', { rbac: { forbidWildcardRules: true } });
    const { code, stdout, stderr } = await checkAs(nobody, good);
    expect(code).toBe(3);
    expect(stderr).toContain('NamespacePolicy could not be read: ');
    expect(stdout).toMatch(/^incomplete: could not read .*NamespacePolicy.*\n1 file, 1 document: /);
    const broken = await checkAs(nobody, policy('broken', { rbca: {} }));
    expect(broken.code).toBe(1);
  });

  test('an account that may not read one Secret has found out everything but a warning', async () => {
    const rules = [
      { apiGroups: ['reeve.dev'], resources: ['*'], verbs: ['list'] },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['list'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] },
      { apiGroups: [rbac], resources: ['clusterroles'], verbs: ['list'] },
    ];
    await grant(cluster, { name: 'check-lister', rules, users: ['check-lister'] });
    const share = {
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'SecretShare',
      metadata: { name: 'unseen' },
      spec: { source: { namespace: 'reeve-shared', name: 'unseen' }, targets: { namespaceSelector: {} } },
    };
    const { code, stderr } = await checkAs(await cluster.clientKubeconfig('check-lister'), share);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('Secret reeve-shared/unseen could not be read: ');
  });
});

test('a plan says that a name does not exist, unless its kind could not be read', async () => {
  const rules = [
    { apiGroups: ['reeve.dev'], resources: ['namespacepolicies'], verbs: ['list'] },
    { apiGroups: [''], resources: ['namespaces'], verbs: ['list'] },
  ];
  await grant(cluster, { name: 'plan-lister', rules, users: ['plan-lister'] });
  const kubeconfig = await cluster.clientKubeconfig('plan-lister');
  const plan = async (...args: readonly string[]) =>
    (await runCommand(['plan', ...args, '--kubeconfig', kubeconfig])).code;
  expect(await plan('--delete', 'share/none')).toBe(3);
  expect(await plan('--delete', 'policy/none', '--delete', 'share/none')).toBe(1);
  const file = fileOf(policy('planned', {}));
  expect(await plan('-f', file, '--only', 'policy/none')).toBe(1);
  expect(await plan('-f', file, '--only', 'ns/none')).toBe(1);
  expect(await plan('-f', file, '--only', 'share/none', '--exit-code')).toBe(3);
});

test.each([
  ['spoh', 'there is no namespace spoh; did you mean shop?'],
  [
    'kube-system',
    'namespace kube-system: no policy matches it, because it belongs to Kubernetes or Reeve, or',
  ],
])('adopt -n %s is refused, because no policy can match that namespace', async (name, problem) => {
  const args = [
    '-f',
    fileOf(policy('first', {}), policy('second', {})),
    '--dry-run',
    '-n',
    'shop',
    '-n',
    name,
  ];
  const { code, stdout, stderr } = await runCommand(['adopt', ...args, '--kubeconfig', cluster.kubeconfig]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.split('\n')).toEqual([expect.stringContaining(problem), '']);
});

test('a plan that is passed on names the API server, and no path of a kubeconfig', async () => {
  const plan = async (output: string): Promise<string> => {
    const files = ['-f', fileOf(policy('planned', {})), '--kubeconfig', cluster.kubeconfig];
    return (await runCommand(['plan', ...files, '-o', output])).stdout;
  };
  expect(await plan('text')).toContain(`on ${cluster.server} (the kubeconfig ${cluster.kubeconfig}`);
  for (const output of ['markdown', 'json', 'yaml']) {
    const printed = await plan(output);
    expect(printed).toContain(new URL(cluster.server).host);
    expect(printed).not.toContain('kubeconfig');
  }
});

describe('adopt for programs', () => {
  const adopt = async (...args: readonly string[]): Promise<unknown> => {
    const files = fileOf(policy('first', {}), policy('second', {}));
    const flags = ['--dry-run', '--kubeconfig', cluster.kubeconfig];
    return JSON.parse((await runCommand(['adopt', '-f', files, ...args, ...flags])).stdout);
  };

  test('several policies of files are one document', async () => {
    const printed = await adopt('-o', 'json');
    expect(schemaProblems(JSON.parse(readFileSync('schemas/adoption-list.json', 'utf8')), printed)).toEqual(
      [],
    );
    expect(printed).toMatchObject({
      kind: 'AdoptionList',
      items: [{ provider: 'NamespacePolicy/first' }, { provider: 'NamespacePolicy/second' }],
    });
  });

  test('the policy that is named is the document', async () => {
    const printed = await adopt('--policy', 'policy/second', '-o', 'json');
    expect(printed).toMatchObject({ kind: 'Adoption', provider: 'NamespacePolicy/second' });
  });
});

test('explain --as asks the API server what the user may do', async () => {
  await grant(cluster, {
    name: 'deleters',
    rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['delete'] }],
    groups: ['red'],
  });
  const explain = async (...user: readonly string[]): Promise<string> =>
    (await runCommand(['explain', 'ns/shop', ...user, '--kubeconfig', cluster.kubeconfig])).stdout;
  const before = audited('subjectaccessreviews').length;
  expect(await explain('--as', 'bob')).toContain('delete namespace shop: no right\n');
  expect(await explain('--as', 'bob', '--as-group', 'red')).toContain('delete namespace shop: allowed\n');
  expect(audited('subjectaccessreviews').length).toBeGreaterThan(before + 1);
});

const controls = '\u001B[31m\u202Ered\u0007';
const hostile = `::error file=a,line=1::injected ##[error]x ${controls}`;

describe('texts of the API server that a terminal or a pipeline would obey', () => {
  const run = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await runCommand([...args, '--kubeconfig', cluster.kubeconfig], 'no');
    return stdout + stderr;
  };
  const harmless = (printed: string): void => {
    expect(printed).not.toBe('');
    // oxlint-disable-next-line no-control-regex -- these are what must not be printed
    expect(printed).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/);
    expect(printed).not.toMatch(/##\[|^\s*::error/m);
  };

  test('the refusal of a grant does not print the message of an admission policy as it is', async () => {
    const name = 'no-grants';
    const resourceRules = [
      { apiGroups: [rbac], apiVersions: ['*'], operations: ['*'], resources: ['clusterroles'] },
    ];
    const api = 'admissionregistration.k8s.io/v1';
    const validations = [{ expression: 'false', message: `refused ${hostile}` }];
    await apply(
      {
        apiVersion: api,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name },
        spec: { matchConstraints: { resourceRules }, validations },
      },
      {
        apiVersion: api,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'] },
      },
    );
    const printed = await run('grant', 'use', 'policy/guard', '--group', 'red', '--apply', '--yes');
    expect(printed).toContain('was not created');
    expect(printed).toContain('injected');
    harmless(printed);
  });

  test('adopt and confirm print no such value of an object as it is', async () => {
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'notes' } };
    const stored = {
      ...configMap,
      metadata: { name: 'notes', namespace: 'shop', annotations: { note: hostile } },
    };
    const contents = { resources: [{ ...configMap, data: { text: hostile, 'a.b': controls } }] };
    await apply(
      { ...stored, data: { text: `other ${hostile}` } },
      policy('notes', { match: { names: ['shop'] }, contents }),
    );
    const printed = await run('adopt', '--policy', 'notes');
    expect(printed).toContain('injected');
    harmless(printed);
    harmless(await run('confirm', 'policy/notes'));
  });
});
