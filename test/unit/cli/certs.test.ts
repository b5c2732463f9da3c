// The command `reeve certs`: its exit codes, its files and what it prints where.
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readServingPair } from '../../../src/certs/files/serving-pair.ts';
import { runCommand } from '../../support/run-command.ts';

const now = new Date('2026-06-01T12:00:00Z');

async function run({
  out,
  ...rest
}: {
  readonly out: string;
  readonly [flag: string]: string | number | true;
}) {
  const flags = Object.entries(rest).map(([flag, value]) => `--${flag}=${value}`);
  const { code: exitCode, ...printed } = await runCommand(['certs', '--out', out, ...flags], { now });
  return { exitCode, ...printed };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-certs-command-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('reeve certs', () => {
  test('stdout is the caBundle on one line', async () => {
    const out = join(await makeFolder(), 'certs');
    const { exitCode, stdout, stderr } = await run({ out });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^[A-Za-z0-9+/]+={0,2}\n$/);
    expect(Buffer.from(stdout, 'base64').toString()).toBe(await readFile(join(out, 'ca.crt'), 'utf8'));
    expect(stderr).toContain(`wrote ${join(out, 'ca.crt')}`);
    expect(stderr).not.toContain('-----BEGIN');
  });

  test('the pair can serve, with the given namespace and lifetime', async () => {
    const out = await makeFolder();
    await run({ out, 'install-namespace': 'platform', days: 30, 'ca-days': 60 });
    const reading = await readServingPair(join(out, 'tls.crt'), join(out, 'tls.key'), now);
    expect(reading).toMatchObject({ ok: true, value: { notAfter: new Date('2026-07-01T12:00:00Z') } });
    const ca = new X509Certificate(await readFile(join(out, 'ca.crt')));
    const serving = new X509Certificate(await readFile(join(out, 'tls.crt')));
    expect(ca.validToDate).toEqual(new Date('2026-07-31T12:00:00Z'));
    expect(serving.checkHost('reeve-webhook.platform.svc')).toBe('reeve-webhook.platform.svc');
    expect(serving.checkIssued(ca)).toBe(true);
  });

  test('existing files are listed and not overwritten without --force', async () => {
    const out = await makeFolder();
    await writeFile(join(out, 'ca.key'), 'precious');
    const { exitCode, stdout, stderr } = await run({ out });
    expect(exitCode).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toBe(
      `nothing was written: ${join(out, 'ca.key')} exists already; --force replaces all four files\n`,
    );
    expect(await readdir(out)).toEqual(['ca.key']);
    expect(await readFile(join(out, 'ca.key'), 'utf8')).toBe('precious');
  });

  test('--force replaces all files', async () => {
    const out = await makeFolder();
    const first = await run({ out });
    const second = await run({ out, force: true });
    expect(second.exitCode).toBe(0);
    expect(second.stdout).not.toBe(first.stdout);
    expect((await run({ out })).stderr).toContain(
      ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'].map((name) => join(out, name)).join(', '),
    );
  });

  test('an error names the folder that cannot be written', async () => {
    const out = join(await makeFolder(), 'file');
    await writeFile(out, '');
    const { exitCode, stdout, stderr } = await run({ out });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toBe(`cannot write certificates into ${out} (EEXIST)\n`);
  });

  test('all wrong options are reported at once, and nothing is written', async () => {
    const out = await makeFolder();
    const { exitCode, stdout, stderr } = await run({
      out,
      'install-namespace': 'No!',
      'ca-days': 0,
      days: 1.5,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr.split('\n').map((line) => line.split(':')[0])).toEqual([
      '--install-namespace',
      '--ca-days',
      '--days',
    ]);
    expect(await readdir(out)).toEqual([]);
    expect((await run({ out: '' })).stderr).toMatch(/^--out: /);
  });
});
