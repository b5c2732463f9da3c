// The command line of the bench says what is measured, and names a wrong argument.
import { expect, test } from 'vitest';
import { benchCommand } from '../../bench/bench-command.ts';

const all = { isQuick: false, only: [], isSaving: false, comparedFile: undefined };

test.each([
  [[], { kind: 'rows', options: all }],
  [
    ['--quick', '--only=a', '--only', 'b'],
    { kind: 'rows', options: { ...all, isQuick: true, only: ['a', 'b'] } },
  ],
  [
    ['--compare=x.json', '--quick'],
    { kind: 'rows', options: { ...all, isQuick: true, comparedFile: 'x.json' } },
  ],
  [['--save'], { kind: 'rows', options: { ...all, isSaving: true } }],
  [['--scale', '--save'], { kind: 'scale', isSaving: true }],
  [['--outages'], { kind: 'outages' }],
  [['--quick', '--help'], { kind: 'help' }],
  [
    ['--namespaces=5', '--shares=3'],
    { kind: 'size', size: { namespaces: 5, policies: 2, shares: 3, others: 0, secretBytes: 1000 } },
  ],
])('the arguments %j are understood', (args, command) => {
  expect(benchCommand(args)).toEqual(command);
});

test.each([
  [['--quik'], '--quik'],
  [['allow-p50'], 'allow-p50'],
  [['--compare'], '--compare'],
  [['--quick', '--compare', '--save'], '--compare'],
  [['--quick', '--save'], '--save needs all rounds: leave out --quick'],
  [['--namespaces=many'], '--namespaces must be a whole number: many'],
  [['--namespaces=5', '--shares=-1'], '--shares must be a whole number: -1'],
])('the arguments %j are refused by name', (args, problem) => {
  expect(benchCommand(args)).toEqual({ kind: 'problem', text: expect.stringContaining(problem) as string });
});
