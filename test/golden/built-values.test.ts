// No command that reads files shows a value from which a share builds its copies.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCommand } from '../support/run-command.ts';

const canary = 'c4n4ry-in-a-file';
const encoded = Buffer.from(canary).toString('base64').replace(/=+$/, '');

const secret = (name: string, key: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'reeve-shared', name },
  type: 'Opaque',
  data: { [key]: Buffer.from(canary).toString('base64') },
});
const objects = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } },
  secret('login', 'user'),
  secret('token', 'password'),
  secret('twice', 'user'),
];
const file = 'test/fixtures/built-values/shares.yaml';
const state = objects.map((each) => JSON.stringify(each)).join('\n---\n');
const stdin = `${state}\n---\n${readFileSync(file, 'utf8')}`;
const shares = ['built', 'quoting', 'naming', 'registry', 'twice'];

test.each([
  'check -f -',
  'check -f - -o json',
  ...['text', 'json', 'csv', 'html', 'openreports'].map((format) => `report -f - --secrets -o ${format}`),
  ...['text', 'json', 'markdown'].map((format) => `plan -f ${file} --state - --all -o ${format}`),
  ...shares.map((name) => `explain share/${name} -f -`),
  ...shares.map((name) => `explain secret/${name} -n a -f - -o json`),
])('no value is in the output of reeve %s', async (command) => {
  const input = command.startsWith('plan') ? state : stdin;
  const { stdout, stderr } = await runCommand(command.split(' '), { stdin: input });
  expect(stdout).not.toBe('');
  for (const value of [canary, encoded]) expect(stdout + stderr).not.toContain(value);
});

test('the reason why a copy cannot be built is shown without the text of the error', async () => {
  const { stdout } = await runCommand(['explain', 'secret/quoting', '-n', 'a', '-f', '-'], { stdin });
  expect(stdout).toContain('the template of key url has an error');
});

test('the plan lists the copies that can be built', async () => {
  const { stdout } = await runCommand(['plan', '-f', file, '--state', '-'], { stdin: state });
  expect(stdout).toContain('built');
});
