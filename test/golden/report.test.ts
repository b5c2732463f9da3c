// What `reeve report` prints, in each format, for files with one entry of each section.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readCommand } from '../../src/cli/commands.ts';
import type { ReportOutput } from '../../src/inspect/output-schemas/report-output.ts';
import { runCommand } from '../support/run-command.ts';

const files = 'test/fixtures/report/state';
const formats = ['text', 'json', 'csv', 'html', 'openreports'] as const;
const assumed = 'the files have no Deployment of Reeve, so its default flags count\n';

async function report(args: readonly string[], { stdin = '', isColored = false } = {}) {
  const now = new Date('2026-11-23T08:00:00.500Z');
  return await runCommand(['report', ...args], { stdin, isTerminal: isColored, now });
}

describe('a report on files', () => {
  test.each(formats)('a report on files is the same as in the file, as %s', async (format) => {
    const { code, stdout, stderr } = await report(['-f', files, '--secrets', '-o', format]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: assumed });
    await expect(stdout).toMatchFileSnapshot(`../fixtures/report/expected/report.${format}`);
  });

  test('a report on files has strong titles on a terminal, and is otherwise the same', async () => {
    const colored = await report(['-f', files, '--secrets'], { isColored: true });
    const plain = await report(['-f', files, '--secrets']);
    expect(colored.stdout).toContain('\u001b[1mViolations (6)\u001b[22m\n');
    // oxlint-disable-next-line no-control-regex -- a color begins with this control character
    expect(colored.stdout.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain.stdout);
  });

  test('a report on files says that existing Secrets were not judged, if a policy has rules for them', async () => {
    const { stdout, stderr } = await report(['-f', files]);
    expect(stderr).toBe(`${assumed}existing Secrets were not judged; --secrets judges them\n`);
    expect(stdout).not.toContain('secrets.forbiddenTypes');
  });

  test('a report on files of one good namespace has no entries', async () => {
    const good = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}';
    const { code, stdout } = await report(['-f', '-'], { stdin: good });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        '0 policies, shares and bindings and 1 namespace of files, at 2026-11-23T08:00:00Z\n\n' +
        'no violations, no conflicts, no blocked objects, no held objects, no skipped contents, no exceptions, ' +
        'no RoleBindings that end\n',
    });
    const page = await report(['-f', '-', '-o', 'html'], { stdin: good });
    expect(page.stdout).toContain('<p><strong>Nothing to report.</strong></p>');
  });
});

test('a file with a problem stops the report', async () => {
  expect(await report(['-f', '-'], { stdin: 'kind: X\nmetadata: {name: a}' })).toEqual({
    code: 3,
    stdout: '',
    stderr: 'stdin:1:1: apiVersion: found nothing; accepted: text that is not empty\n',
  });
});

test('--write is about a cluster, and prints nothing', async () => {
  expect(await readCommand(['report', '--write', '-f', files, '-o', 'csv'], {})).toMatchObject({
    kind: 'wrong',
    code: 2,
    problems: ['--write goes without -f', '--write goes without -o'],
  });
});

test.each(formats)('no value of a Secret is in the report, as %s', async (format) => {
  const secrets = await readFile(`${files}/cluster.yaml`, 'utf8');
  const values = ['canary-4f1c', Buffer.from('canary-4f1c').toString('base64').replace(/=+$/, '')];
  for (const value of values) expect(secrets).toContain(value);
  const { stdout, stderr } = await report(['-f', files, '--secrets', '-o', format]);
  for (const value of values) expect(stdout + stderr).not.toContain(value);
});

describe('a narrowed report', () => {
  const entriesOf = async (...args: readonly string[]) => {
    const { stdout } = await report([files, '--secrets', '-o', 'json', ...args]);
    return (JSON.parse(stdout) as ReportOutput).entries;
  };

  test('a narrowed report has the entries of the namespaces of -n alone', async () => {
    const entries = await entriesOf('-n', 'team-a', '-n', 'team-old');
    expect(new Set(entries.map(({ namespace }) => namespace))).toEqual(new Set(['team-a', 'team-old']));
  });

  test.each([
    ['--policy', 'team', '--share', 'missing'],
    ['--policy', 'policy/team', '--share', 'sshare/missing'],
  ])('a narrowed report has the entries of the providers that are named: %s %s %s %s', async (...args) => {
    const entries = await entriesOf(...args);
    expect(new Set(entries.map(({ policy }) => policy))).toEqual(
      new Set(['NamespacePolicy/team', 'SecretShare/missing']),
    );
  });

  test('a narrowed report has the whole report for -A', async () => {
    expect(await entriesOf('-A')).toEqual(await entriesOf());
  });

  test.each([
    [['-n', 'taem-a'], 'there is no namespace taem-a; did you mean team-a?\n'],
    [['-n', 'nothing'], 'there is no namespace nothing\n'],
    [
      ['-n', 'team-b', '--exclude-namespace', 'team-b'],
      'namespace team-b: no policy matches it, because it belongs to Kubernetes or Reeve, or the install excludes it\n',
    ],
    [['--policy', 'nothing'], 'there is no NamespacePolicy/nothing\n'],
  ])('a narrowed report of %j, which does not exist or is excluded, is none', async (args, problem) => {
    expect(await report([files, '--secrets', ...args])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: assumed + problem,
    });
  });

  test('a narrowed report has what was written since a time, and nothing of older objects', async () => {
    const policy =
      '{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p}, spec: {validationActions: [Audit], namespaces: {required: {labels: {team: {}}}}}}';
    const namespace = (name: string, time: string) =>
      `{apiVersion: v1, kind: Namespace, metadata: {name: ${name}, creationTimestamp: '2026-01-01T00:00:00Z', managedFields: [{manager: kubectl, operation: Update, time: '${time}'}, {manager: reeve, operation: Update, subresource: status, time: '2026-11-23T08:00:00Z'}]}}`;
    const stdin = [
      policy,
      namespace('old', '2026-11-23T05:00:00Z'),
      namespace('new', '2026-11-23T07:00:00Z'),
    ].join('\n---\n');
    for (const since of ['2h', '2026-11-23T06:00:00Z']) {
      const { stdout } = await report(['-f', '-', '-o', 'json', '--since', since], { stdin });
      expect((JSON.parse(stdout) as ReportOutput).entries.map(({ namespace: name }) => name)).toEqual([
        'new',
      ]);
    }
  });

  test.each([
    ['team/red', '"team/red" is not valid; accepted: NAME or policy/NAME', '--policy'],
    ['share/missing', '"share/missing" is not valid; accepted: NAME or policy/NAME', '--policy'],
    ['a/b/c', '"a/b/c" is not valid; accepted: NAME, NAMESPACE/NAME or binding/NAME', '--binding'],
  ])('a narrowed report is refused for %s, which is no name of that kind', async (text, problem, flag) => {
    expect(await readCommand(['report', flag, text], {})).toMatchObject({
      kind: 'wrong',
      problems: [`${flag}: ${problem}`],
    });
  });

  test('a narrowed report is never written, because the other Reports would be deleted', async () => {
    const wrong = await readCommand(['report', '--write', '-n', 'a'], {});
    expect(wrong).toMatchObject({
      problems: ['--write writes all Reports: leave out -n, --policy, --share, --binding and --since'],
    });
  });
});

describe('the tables for people', () => {
  test('the tables for people have one row for a cause in many namespaces', async () => {
    const policy =
      '{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p}, spec: {validationActions: [Audit], namespaces: {required: {labels: {owner: {}}}}}}';
    const names = Array.from({ length: 18 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    const stdin = [
      policy,
      ...names.map((name) => `{apiVersion: v1, kind: Namespace, metadata: {name: ${name}}}`),
    ];
    const { stdout } = await report(['-f', '-'], { stdin: stdin.join('\n---\n') });
    expect(stdout).toContain('Violations (18)\n');
    expect(stdout.match(/found nothing/g)).toHaveLength(1);
    expect(stdout).toContain(
      'n00, n01, n02, n03, n04 and 13 more  18 x Namespace  namespaces.required  Audit',
    );
  });

  test('the tables for people can be divided by the team of a namespace, in the label of the install', async () => {
    const { stdout } = await report([files, '--group-by', 'team']);
    expect(stdout).toMatch(/\nTeam red \(\d+\)\n {2}WHAT +POLICY +NAMESPACES/);
    expect(stdout).toContain('\nWithout a team (');
    const other = await report([files, '--group-by', 'team', '--team-label', 'env']);
    expect(other.stdout).toContain('\nTeam dev (');
  });

  test('the tables for people can be divided by namespace', async () => {
    const { stdout } = await report([files, '--group-by', 'namespace']);
    expect(stdout).toMatch(/\nNamespace team-b \(\d+\)\n {2}WHAT +POLICY +OBJECT +RULE OR REASON/);
  });
});
