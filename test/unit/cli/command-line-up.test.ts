// The command line of `reeve up`: what goes together, and when there may be colors.
import { describe, expect, it } from 'vitest';
import { readCommand, type Command } from '../../../src/cli/command-line.ts';

function up(args: readonly string[], env: Readonly<Record<string, string>> = {}): Command {
  return readCommand(['up', ...args], env);
}

describe('colors', () => {
  it.each([
    [{}, true],
    [{ NO_COLOR: '' }, true],
    [{ NO_COLOR: '0' }, false],
    [{ TERM: 'xterm' }, true],
    [{ TERM: 'dumb' }, false],
  ])('%o: %s', (env, mayColor) => {
    expect(up([], env)).toMatchObject({ kind: 'up', mayColor });
  });
});

describe('the tour', () => {
  it.each([
    [['--kubeconfig', 'k'], '--demo plays on the sandbox, not on the cluster of --kubeconfig'],
    [['--policies', 'p'], '--demo tells of the policies that it begins with: leave out --policies'],
  ])('not with %o', (args, problem) => {
    expect(up(['--demo', ...args])).toEqual({ kind: 'wrong', problems: [problem], hint: 'reeve up --help' });
    expect(up(args).kind).toBe('up');
  });
});

it('has a sandbox whatever the environment of kubectl says', () => {
  const command = up([], { KUBECONFIG: '/home/ann/.kube/config' });
  expect(command).toMatchObject({ kind: 'up', settings: { kubeconfig: undefined } });
});
