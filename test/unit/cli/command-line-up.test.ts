// The flags of `reeve up`: which ones go together, and when the output has colors.
import { describe, expect, it } from 'vitest';
import { readCommand, type Command } from '../../../src/cli/commands.ts';

function up(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Command> {
  return readCommand(['up', ...args], env);
}

describe('colors', () => {
  it.each([
    [{}, true],
    [{ NO_COLOR: '' }, true],
    [{ NO_COLOR: '0' }, false],
    [{ TERM: 'xterm' }, true],
    [{ TERM: 'dumb' }, false],
  ])('%o: %s', async (env, mayColor) => {
    expect(await up([], env)).toMatchObject({ kind: 'up', mayColor });
  });
});

describe('the demo', () => {
  it('--demo cannot be combined with --policies', async () => {
    const problem = '--demo uses policies of its own: leave out --policies';
    const command = await up(['--demo', '--policies', 'p']);
    expect(command).toEqual({ kind: 'wrong', problems: [problem], hint: 'reeve up --help', code: 2 });
    expect((await up(['--policies', 'p'])).kind).toBe('up');
  });
});

it('--step requires --demo', async () => {
  expect(await up(['--demo', '--step'])).toMatchObject({ kind: 'up', settings: { demo: true, step: true } });
  expect(await up(['--step'])).toMatchObject({ kind: 'wrong', problems: ['--step goes with --demo'] });
});

it('up uses the sandbox whatever KUBECONFIG says, and has no flag for a cluster', async () => {
  expect((await up([], { KUBECONFIG: '/home/ann/.kube/config' })).kind).toBe('up');
  expect((await up(['--kubeconfig', 'k'])).kind).toBe('wrong');
});

it('--audit-secrets has the same name as for run, and is off', async () => {
  expect(await up([])).toMatchObject({ settings: { auditSecrets: false } });
  expect(await up(['--audit-secrets'])).toMatchObject({ settings: { auditSecrets: true } });
});
