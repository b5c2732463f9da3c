// A command is one file and one row of a list: help, completion, reference and `-o` follow from its parts.
import { describe, expect, test } from 'vitest';
import { commandOf } from '../../../src/cli/command.ts';
import { describedCommands, readCommandOf, commands } from '../../../src/cli/commands.ts';
import { outputSetting } from '../../../src/cli/flags/common-settings.ts';
import { textSetting } from '../../../src/cli/flags/settings.ts';
import { flagsPage } from '../../checks/reference/flags-page.ts';
import { ioOf, runCommand } from '../../support/run-command.ts';

interface Greeting {
  readonly name: string;
}

const outputs = {
  text: ({ name }: Greeting, { mark }: { readonly mark: string }, isColored: boolean) =>
    `Hello ${name}${mark}${isColored ? ' in colors' : ''}\n`,
  shout: ({ name }: Greeting) => `HELLO ${name.toUpperCase()}\n`,
};
const mark = textSetting('!', { placeholder: 'MARK', help: 'What ends the line.', accepted: 'a mark' });
const run = (): Promise<number> => Promise.resolve(0);

const list = {
  greet: {
    summary: 'Greet somebody.',
    load: () =>
      Promise.resolve({
        command: commandOf({
          flags: { mark, output: outputSetting(outputs, 'How it is said.') },
          outputs,
          positionals: { placeholder: 'NAME', help: 'Who is greeted.', min: 1, max: 1 },
          run: async ({ positionals: [name = ''] }, { print }) => {
            print({ name });
            return await Promise.resolve(name === 'nobody' ? 1 : 0);
          },
        }),
      }),
  },
};

async function said(...args: readonly string[]): Promise<string> {
  const command = await readCommandOf(list, args, {});
  return command.kind === 'help' ? command.text : JSON.stringify(command);
}

async function greeted(args: readonly string[], isTerminal = false) {
  const command = await readCommandOf(list, ['greet', ...args], {});
  if (command.kind !== 'greet') throw new Error(JSON.stringify(command));
  const printed = { stdout: '', stderr: '' };
  return { code: await command.run(ioOf(printed, { isTerminal })), stdout: printed.stdout };
}

describe('a command in a list', () => {
  test('the help of the program has its summary', async () => {
    expect(await said('--help')).toContain('\n  greet  Greet somebody.\n');
  });

  test('its own help has its flags, and its outputs as what -o accepts', async () => {
    const help = await said('greet', '--help');
    expect(help).toContain('\nUsage: reeve greet NAME [--flag value ...]\n');
    expect(help).toContain('(REEVE_MARK; default !; accepted: a mark)');
    expect(help).toContain('\n      (default text; accepted: text, shout)\n');
  });

  test('completion offers its name, its flags and its outputs', async () => {
    expect(await said('__complete', 'g')).toBe('greet\tGreet somebody.\n:4');
    expect(await said('__complete', 'greet', '--ma')).toBe('--mark\tWhat ends the line.\n:4');
    expect(await said('__complete', 'greet', '-o', '')).toBe('text\nshout\n:4');
  });

  test('the reference has its section', async () => {
    const page = flagsPage(await describedCommands(list));
    expect(page).toContain('## `reeve greet`');
    expect(page).toMatch(/\| `-o, --output FORMAT` .* text, shout .* How it is said\. +\|/);
    expect(page).not.toContain('reeve check');
  });

  test('a misspelled name is met with its name', async () => {
    expect(await said('greed')).toContain('did you mean greet?');
  });

  test.each([
    [['ann'], false, 'Hello ann!\n'],
    [['ann', '--mark', '?'], true, 'Hello ann? in colors\n'],
    [['ann', '-o', 'shout'], true, 'HELLO ANN\n'],
    [['an\u001B[2Jn'], false, 'Hello an\uFFFD[2Jn!\n'],
  ])(
    'the arguments %j on a terminal (%s) choose an output, which is cleaned',
    async (args, isTerminal, text) => {
      expect(await greeted(args, isTerminal)).toEqual({ code: 0, stdout: text });
    },
  );

  test('its exit code is that of its work', async () => {
    expect((await greeted(['nobody'])).code).toBe(1);
  });
});

test('a command with a part left out does not compile', () => {
  const flags = { mark, output: outputSetting(outputs, 'How it is said.') };
  const rows = [
    // @ts-expect-error -- the flags are missing
    () => commandOf({ outputs, run }),
    // @ts-expect-error -- the outputs are missing
    () => commandOf({ flags, run }),
    // @ts-expect-error -- the work is missing
    () => commandOf({ flags, outputs }),
    // @ts-expect-error -- the outputs have no -o
    () => commandOf({ flags: { mark }, outputs, run }),
    // @ts-expect-error -- one of the outputs that -o offers is missing
    () => commandOf({ flags, outputs: { text: outputs.text }, run }),
    // @ts-expect-error -- -o is there without outputs
    () => commandOf({ flags, outputs: {}, run }),
    // @ts-expect-error -- an output needs a setting that the command does not have
    () => commandOf({ flags: { output: flags.output }, outputs, run }),
  ];
  expect(rows).toHaveLength(7);
});

test.each([
  ['check', '-f'],
  ['explain', 'a', '-f'],
  ['plan', '-f'],
  ['report', '-f'],
  ['import', 'capsule', '-f'],
  ['adopt', '-f'],
  ['test', '--'],
  ['plan', '-f', 'test/fixtures/plan/policies', '--state'],
  ['explain', 'a', '-f', 'test/fixtures/plan/policies', '--state'],
  ['report', '-f', 'test/fixtures/plan/policies', '--state'],
])('reeve %s %s NOWHERE says which path cannot be read, and could not find out', async (...args) => {
  expect(await runCommand([...args, 'nowhere'])).toEqual({
    code: 3,
    stdout: '',
    stderr: 'nowhere cannot be read: there is no such file or folder\n',
  });
});

describe('the state beside the files of -f', () => {
  const state = 'test/fixtures/plan/cluster.yaml';
  const files = ['-f', 'test/fixtures/plan/policies'];

  test.each([
    ['plan', 'json'],
    ['report', 'json'],
    ['explain team-a', 'text'],
  ])('reeve %s finds the namespaces of --state', async (words, format) => {
    const { stdout } = await runCommand([...words.split(' '), ...files, '--state', state, '-o', format]);
    expect(stdout).toContain('team-a');
  });

  test('a namespace that only --state has is not found without it', async () => {
    expect((await runCommand(['explain', 'team-a', ...files])).code).toBe(1);
    expect((await runCommand(['explain', 'team-a', ...files, '--state', state])).code).toBe(0);
  });

  test.each(['plan', 'report', 'explain a'])('reeve %s has one state only', async (words) => {
    const args = [...words.split(' '), '-f', '-', '--state', '-', '--context', 'prod'];
    expect(await runCommand(args)).toMatchObject({
      code: 2,
      stderr:
        'only one of -f and --state can be standard input\n--state replaces the cluster: give one of them',
    });
  });

  test('--write goes without it', async () => {
    expect(await runCommand(['report', '--state', state, '--write'])).toMatchObject({
      code: 2,
      stderr: '--write goes without --state',
    });
  });

  test('it alone is the whole state', async () => {
    const alone = await runCommand(['report', '--state', state, '-o', 'json']);
    expect(alone).toEqual(await runCommand(['report', '-f', state, '-o', 'json']));
  });
});

test('the list has a file of its own for each command', async () => {
  const { readdir } = await import('node:fs/promises');
  const files = await readdir('src/cli/commands');
  expect(Object.keys(commands).filter((name) => !files.includes(`${name}.ts`))).toEqual([]);
});
