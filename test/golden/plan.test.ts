// What `reeve plan` prints, in each format, for files that change, conflict, are held and are refused.
import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../src/base/yaml.ts';
import { readCommand } from '../../src/cli/commands.ts';
import { assumed, plan } from '../support/plan-command.ts';

const policies = 'test/fixtures/plan/policies';
const cluster = 'test/fixtures/plan/cluster.yaml';

const onFiles = (...args: readonly string[]) => ['-f', policies, '--state', cluster, ...args];

describe('the plan of files', () => {
  test.each([
    ['plan.txt', []],
    ['plan.json', ['-o', 'json']],
    ['plan.md', ['-o', 'markdown']],
    ['whole.txt', ['--all']],
    ['team-b.txt', ['--only', 'ns/team-b']],
    ['share.txt', ['--only', 'share/regcred', '--only', 'ns/team-a', '--only', 'ns/team-b']],
  ])('the plan of files is the same as in %s', async (file, args) => {
    const { code, stdout, stderr } = await plan(onFiles(...args));
    expect({ code, stderr }).toEqual({ code: 0, stderr: assumed });
    await expect(stdout).toMatchFileSnapshot(`../fixtures/plan/expected/${file}`);
  });

  test('the plan of files has colors on a terminal', async () => {
    const { stdout } = await plan(onFiles('--only', 'ns/team-b'), { isColored: true });
    await expect(stdout).toMatchFileSnapshot('../fixtures/plan/expected/colored.txt');
  });
});

describe('the exit code', () => {
  const files = ['-f', `${policies}/shares.yaml`, '--state', cluster];

  test('the exit code is 1 if something would be refused, and 2 if something would change', async () => {
    expect(await plan(onFiles('--exit-code'))).toMatchObject({ code: 1 });
    expect(await plan([...files, '--exit-code'])).toMatchObject({ code: 2 });
  });

  test('the exit code counts changes that are shown, but all deletions and refusals', async () => {
    const elsewhere = ['--only', 'ns/team-c'];
    expect(await plan([...files, ...elsewhere, '--exit-code'])).toMatchObject({ code: 0, stderr: assumed });
    expect(await plan([...files, ...elsewhere, '--max-deletions', '0'])).toMatchObject({ code: 1 });
    expect(await plan(onFiles('--exit-code', '--only', 'share/database'))).toMatchObject({
      code: 1,
      stderr: `${assumed}something would be refused that --only does not show\n`,
    });
  });

  test('the exit code is 1 for a Namespace of the files that would be refused', async () => {
    const rule = { namespaces: { name: { pattern: '^team-' } } };
    const policy = {
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'NamespacePolicy',
      metadata: { name: 'p' },
      spec: rule,
    };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lonely' } };
    const stdin = [policy, namespace].map((each) => JSON.stringify(each)).join('\n---\n');
    const args = ['-f', '-', '--state', 'test/fixtures/plan/quiet.yaml', '--exit-code'];
    const { code, stdout } = await plan(args, { stdin });
    expect(code).toBe(1);
    expect(stdout).toContain('refused');
  });

  test('the exit code is 2 for a new Namespace that gets nothing', async () => {
    const stdin = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: lonely}';
    const { code, stdout } = await plan(
      ['-f', '-', '--state', 'test/fixtures/plan/quiet.yaml', '--exit-code'],
      {
        stdin,
      },
    );
    expect(code).toBe(2);
    expect(stdout).toContain('namespace lonely\n  + create  Namespace/lonely\n      one of the files\n');
  });

  test('the exit code is 0 if nothing would change', async () => {
    const quiet = 'test/fixtures/plan/quiet.yaml';
    const unchanged = await plan(['-f', quiet, '--state', quiet, '--exit-code']);
    expect(unchanged).toMatchObject({ code: 0 });
    expect(unchanged.stdout).toBe(
      'Plan of 2 documents on a state in files, 1 namespace\n  nothing to change\n',
    );
  });

  test('the exit code is 1 if more objects would be deleted or re-created than allowed', async () => {
    expect(await plan([...files, '--max-deletions', '3'])).toMatchObject({ code: 0 });
    expect(await plan([...files, '--max-deletions', '0', '--exit-code', '--all'])).toEqual({
      code: 1,
      stdout: expect.stringContaining('1 delete') as string,
      stderr: `${assumed}3 objects would be deleted or re-created (2 of them after a confirmation), and --max-deletions is 0\n`,
    });
  });

  test('the exit code counts deletions that wait for a confirmation', async () => {
    const args = onFiles('--all', '--only', 'policy/limits', '--max-deletions');
    expect(await plan([...args, '10'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        '11 objects would be deleted or re-created (2 of them after a confirmation), and --max-deletions is 10\n',
      ) as string,
    });
    expect(await plan([...args, '11'])).toMatchObject({ code: 0 });
  });

  test('the exit code does not count deletions of today that are not shown', async () => {
    expect(await plan([...files, '--max-deletions', '1'])).toMatchObject({ code: 0 });
    expect(await plan([...files, '--max-deletions', '1', '--all'])).toMatchObject({ code: 1 });
  });

  test('the exit code is 0 if only what is not shown would change, and 2 with --all', async () => {
    const other = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: team-a}';
    const args = ['-f', '-', '--state', cluster, '--exit-code'];
    const { code, stdout } = await plan(args, { stdin: other });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Plan of 1 document .*\n {2}nothing to change\n {2}4 known problems and \d+ known changes, unchanged \(--all shows them\)\n$/,
    );
    expect(await plan([...args, '--all'], { stdin: other })).toMatchObject({ code: 2 });
  });

  test('the exit code for wrong flags is 3 with --exit-code, because 2 means changes', async () => {
    expect(await readCommand(['plan', '--exit-code'], {})).toMatchObject({ kind: 'wrong', code: 3 });
    expect(await readCommand(['plan'], {})).toMatchObject({
      kind: 'wrong',
      code: 2,
      problems: ['-f is missing; accepted: a file or folder, or -'],
    });
    const both = ['plan', '-f', '-', '--state', '-', '--context', 'prod'];
    expect(await readCommand(both, {})).toMatchObject({
      kind: 'wrong',
      problems: [
        'only one of -f and --state can be standard input',
        '--state replaces the cluster: give one of them',
      ],
    });
  });
});

test('a problem in the files stops the plan, and says where it is', async () => {
  const stdin =
    'apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: {name: p}\nspec: {mach: {}}';
  expect(await plan(['-f', '-', '--state', cluster], { stdin })).toEqual({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(
      /stdin:4:8: policy p: spec.mach: found an unknown field; .* \(did you mean match\?\)\n$/,
    ) as string,
  });
});

test.each(['text', 'json', 'markdown'])(
  'a stored policy that does not load is named with --all, as %s',
  async (format) => {
    const invalid =
      'apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: {name: old}\nspec: {mach: {}}';
    const args = ['-f', 'test/fixtures/plan/quiet.yaml', '--state', '-', '-o', format];
    expect((await plan(args, { stdin: invalid })).stdout).not.toContain('NamespacePolicy/old');
    const { code, stdout } = await plan([...args, '--all'], { stdin: invalid });
    expect(code).toBe(0);
    expect(stdout).toMatch(/NamespacePolicy\/old[^]*spec\.mach: found an unknown field/);
    const other = await plan([...args, '--all', '--only', 'policy/p'], { stdin: invalid });
    expect(other.stdout).not.toContain('NamespacePolicy/old');
  },
);

test('a value that kubectl reads differently stops the plan', async () => {
  const stdin =
    'apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: {name: p}\nspec: {match: {names: [no]}}';
  expect(await plan(['-f', '-', '--state', cluster], { stdin })).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/stdin:4:24: kubectl reads this value as a boolean, .*\n$/) as string,
  });
});

test.each([
  ['nss/team-a', [], 2],
  ['nss/team-a', ['--exit-code'], 3],
  ['ns/Team_A', [], 2],
])('a name that --only cannot read is a wrong flag: %s %j', async (name, args, code) => {
  expect(await readCommand(['plan', '-f', 'nowhere', '--only', name, ...args], {})).toMatchObject({
    kind: 'wrong',
    problems: [
      `--only: "${name}" is not valid; accepted: KIND/NAME, such as policy/team, share/regcred or binding/no-egress; a namespace is ns/NAME`,
    ],
    code,
  });
});

test.each([
  ['ns/team-aa', 'there is no namespace team-aa; did you mean team-a?'],
  ['share/regcrd', 'there is no SecretShare/regcrd; did you mean SecretShare/regcred?'],
  ['policy/nobody-knows-this', 'there is no NamespacePolicy/nobody-knows-this'],
])('a name of --only that does not exist is no plan without changes: %s', async (name, problem) => {
  expect(await plan(onFiles('--exit-code', '--only', name))).toEqual({
    code: 1,
    stdout: '',
    stderr: `${assumed}--only: ${problem}\n`,
  });
});

test('files without a document are no plan without changes', async () => {
  expect(await plan(['-f', '-', '--state', cluster], { stdin: '# nothing\n' })).toEqual({
    code: 3,
    stdout: '',
    stderr: 'standard input cannot be read: there is no object in YAML or JSON\n',
  });
});

test('a Namespace that is being deleted is not refused if someone creates it again', async () => {
  const namespace = (metadata: object): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-x', ...metadata } });
  const rows = async (metadata: object) => {
    const args = ['-f', `${policies}/team.yaml`, '--state', '-'];
    return (await plan(args, { stdin: namespace(metadata) })).stdout;
  };
  expect(await rows({})).toContain('refused if re-created');
  expect(await rows({ deletionTimestamp: '2026-11-23T07:00:00Z' })).not.toContain('refused if re-created');
});

test('a state without namespaces is said', async () => {
  const shares = `${policies}/shares.yaml`;
  const { stderr } = await plan(['-f', shares, '--state', shares]);
  expect(stderr).toBe(`${assumed}the state has no namespaces, so nothing can be planned\n`);
});

describe('no value of a Secret is printed', () => {
  const values = ['canary-1', 'canary-2', 'canary-3', 'canary-4'];
  const hidden = values.flatMap((value) => [value, Buffer.from(value).toString('base64')]);

  test.each(['text', 'json', 'markdown'])('as %s', async (format) => {
    const { stdout, stderr } = await plan(onFiles('-o', format, '--all'));
    expect(stdout).toContain('data[');
    for (const value of hidden) expect(stdout + stderr).not.toContain(value);
  });
});

test('YAML has the fields of JSON', async () => {
  const [yaml, json] = [await plan(onFiles('-o', 'yaml')), await plan(onFiles('-o', 'json'))];
  expect(yaml.stdout).toMatch(/^apiVersion: cli\.reeve\.dev\/v1\nkind: Plan\n/);
  const [document] = parseYaml(yaml.stdout).documents;
  expect(document?.kind === 'data' && document.value).toEqual(JSON.parse(json.stdout));
});

test('a path without a flag is a path of -f', async () => {
  expect(await plan([policies, '--state', cluster])).toEqual(await plan(onFiles()));
});
