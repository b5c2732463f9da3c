// What `reeve report` prints, in each format, for files with one entry of each section.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readCommand } from '../../src/cli/command-line.ts';
import { runReport } from '../../src/cli/commands/report.ts';

const files = 'test/fixtures/report/state';
const formats = ['text', 'json', 'csv', 'html', 'openreports'] as const;
const assumed = 'the files have no Deployment of Reeve, so its default flags count\n';

async function report(args: readonly string[], { stdin = '', isColored = false } = {}) {
  const command = await readCommand(['report', ...args], {});
  if (command.kind !== 'report') throw new Error(JSON.stringify(command));
  const printed = { stdout: '', stderr: '' };
  const code = await runReport(command.settings, command.environment, {
    stdout: (text) => (printed.stdout += text),
    stderr: (text) => (printed.stderr += text),
    stdin: () => Promise.resolve(stdin),
    clock: { now: () => new Date('2026-11-23T08:00:00.500Z') },
    isColored,
  });
  return { code, ...printed };
}

describe('a report on files', () => {
  test.each(formats)('is the same as in the file, as %s', async (format) => {
    const { code, stdout, stderr } = await report(['-f', files, '--secrets', '-o', format]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: assumed });
    await expect(stdout).toMatchFileSnapshot(`../fixtures/report/expected/report.${format}`);
  });

  test('has strong titles on a terminal, and is otherwise the same', async () => {
    const colored = await report(['-f', files, '--secrets'], { isColored: true });
    const plain = await report(['-f', files, '--secrets']);
    expect(colored.stdout).toContain('\u001b[1mViolations (6)\u001b[22m\n');
    // oxlint-disable-next-line no-control-regex -- a color begins with this control character
    expect(colored.stdout.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain.stdout);
  });

  test('says that existing Secrets were not judged, if a policy has rules for them', async () => {
    const { stdout, stderr } = await report(['-f', files]);
    expect(stderr).toBe(`${assumed}existing Secrets were not judged; --secrets judges them\n`);
    expect(stdout).not.toContain('secrets.forbiddenTypes');
  });

  test('of one good namespace has no entries', async () => {
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
