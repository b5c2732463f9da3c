// Commands print texts that others wrote: no text steers a terminal, a page, a spreadsheet or a pipeline.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/run-command.ts';

const inOneLine = '=1+1 ##[error]old <script>alert(1)</script> | `code` @all';
const controls = '\u001B[31m\u009B1m\u202Ered\u2066\u0007';
const hostile = `${inOneLine}${controls}\n::error file=a,line=1::injected\r\n##[group]x`;

let folder = '';
let broken = '';
let whole = '';

const document = JSON.stringify;
const metadata = {
  name: 'shop-a',
  labels: { team: hostile },
  annotations: { contact: hostile, note: hostile },
};
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: inOneLine, namespace: 'shop-a' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: hostile },
  subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: hostile }],
};

function policy(name: string, spec: object): object {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: { name }, spec };
}

const guard = policy('guard', {
  contact: inOneLine,
  namespaces: {
    required: { labels: { team: { values: ['a'] } }, annotations: { contact: { values: ['b'] } } },
  },
  rbac: { allowedRoleRefs: ['ClusterRole/view'] },
  validations: [{ name: 'x', expression: "object.metadata.name == 'b'", message: hostile }],
  contents: {
    roleBindings: [
      {
        name: '${namespaceObject.metadata.labels.team}',
        roleRef: { kind: 'ClusterRole', name: 'view' },
        subjects: [{ kind: 'Group', name: inOneLine }],
      },
    ],
    resources: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'notes' }, data: { text: hostile } },
    ],
  },
});

const documents = {
  'whole.yaml': [guard, policy('broken', { [hostile]: hostile }), namespace, binding].map((each) =>
    document(each),
  ),
  'broken.yaml': [
    policy(hostile, {}),
    policy('conditions', { match: { matchConditions: [{ name: hostile, expression: hostile }] } }),
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: hostile, namespace: 'shop-a' } },
    { apiVersion: 'a/v1', kind: hostile.slice(0, 63), metadata: { name: 'x' } },
  ].map((each) => document(each)),
  'yaml.yaml': [`a: [${hostile}\n  : {{`],
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-hostile-'));
  const place = join(folder, `::error ::x${controls}\n::warning::folder`);
  await mkdir(place, { recursive: true });
  for (const [file, texts] of Object.entries(documents))
    await writeFile(join(place, file), texts.join('\n---\n'));
  const request = { create: namespace };
  const tests = [{ name: hostile, request, expect: { verdict: 'allowed', message: hostile } }];
  const suite = { apiVersion: 'cli.reeve.dev/v1', kind: 'Suite', tests };
  await writeFile(join(place, 'suite.yaml'), document({ ...suite, policies: ['guard.yaml'] }));
  await writeFile(join(place, 'guard.yaml'), document(guard));
  [broken, whole] = [place, join(place, 'whole.yaml')];
});
afterAll(async () => await rm(folder, { recursive: true }));

async function printedBy(args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return await runCommand(args, { stdin: documents['broken.yaml'].join('\n---\n'), now: 'today' });
}

const withFormats = (
  formats: readonly string[],
  ...args: readonly string[]
): readonly (readonly string[])[] => formats.map((format) => [...args, '-o', format]);

const commands: readonly (readonly string[])[] = [
  ...withFormats(['text', 'json', 'yaml', 'github'], 'check', '-f', 'BROKEN'),
  ['check', '-f', '-'],
  ['check', '-f', `nowhere\n::error::${controls}`],
  ...withFormats(['text', 'json', 'github', 'junit'], 'test', 'BROKEN'),
  ...withFormats(['text', 'json', 'csv', 'html'], 'report', '-f', 'WHOLE'),
  ['report', '-f', 'BROKEN'],
  ...withFormats(['text', 'json', 'markdown'], 'plan', '-f', 'WHOLE', '--state', 'WHOLE'),
  ['plan', '-f', 'BROKEN', '--state', 'BROKEN'],
  ...withFormats(['text', 'json'], 'explain', 'ns/shop-a', '-f', 'WHOLE'),
  ['explain', 'policy/guard', '-f', 'WHOLE'],
  ['explain', 'policy/broken', '-f', 'WHOLE'],
  ['explain', `policy/${hostile}`, '-f', 'WHOLE'],
  ['import', 'kyverno', '-f', 'WHOLE'],
  ['import', 'capsule', '-f', 'BROKEN'],
];

const shown = (args: readonly string[]): string =>
  args.map((each) => each.replaceAll(/[^-\w/. ]/g, '').slice(0, 20)).join(' ');
test.each(commands.map((args) => [shown(args), args] as const))(
  'reeve %s prints nothing that a terminal, page, spreadsheet or pipeline obeys',
  async (_, args) => {
    const { stdout, stderr } = await printedBy(
      args.map((each) => each.replace('BROKEN', broken).replace('WHOLE', whole)),
    );
    const format = args.at(-1);
    expect(stdout + stderr).not.toBe('');
    for (const printed of [stdout, stderr]) {
      // oxlint-disable-next-line no-control-regex -- these are what must not be printed
      expect(printed).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/);
      expect(printed).not.toMatch('##[');
      const ours = format === 'github' ? /^::(?:error|warning|notice)(?: file=[^\n]*)?::/ : /$^/;
      const orders = printed
        .split('\n')
        .filter((line) => /^\s*::[\w-]+[^\n]*::/.test(line) && !ours.test(line));
      expect(orders).toEqual([]);
      expect(printed).not.toMatch(/^\s*::error file=a,line=1::/m);
    }
    if (['html', 'markdown', 'junit'].includes(format ?? '')) expect(stdout).not.toMatch('<script>alert');
    if (format === 'csv') expect(stdout).not.toMatch(/(?:^|,)"?=1/m);
  },
);
