// What a shell may offer for the word that a user is typing.
import { describe, expect, test } from 'vitest';
import { readCommand } from '../../../src/cli/commands.ts';
import { completionsText } from '../../../src/cli/flags/completions.ts';

async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const command = await readCommand(['__complete', ...words], {});
  return command.kind === 'help' ? command.text.split('\n').map((line) => line.split('\t')[0] ?? '') : [];
}

describe('completion offers', () => {
  test.each<readonly [words: readonly string[], offers: readonly string[]]>([
    [['un'], ['uninstall', ':4']],
    [['nothing'], [':4']],
    [['nothing', '--'], [':4']],
    [
      ['check', '--con'],
      ['--context', ':4'],
    ],
    [
      ['check', '-o', ''],
      ['text', 'json', 'yaml', 'github', ':4'],
    ],
    [
      ['check', '--output', 'j'],
      ['json', ':4'],
    ],
    [
      ['check', '--output=j'],
      ['--output=json', ':4'],
    ],
    [['check', '--strict', ''], [':0']],
    [['check', '-f', ''], [':0']],
    [['check', '--filename=po'], [':0']],
    [['check', '--context', ''], [':4']],
    [['check', '--', '--con'], [':0']],
    [['uninstall', '--', '--con'], [':4']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', ':4'],
    ],
  ])('completion offers for %j: %j', async (words, offers) => {
    expect(await offered(...words)).toEqual(offers);
  });

  test('every command, with what it does', async () => {
    const command = await readCommand(['__complete', ''], {});
    const overview = await readCommand(['--help'], {});
    if (command.kind !== 'help' || overview.kind !== 'help') throw new Error('no text');
    const lines = command.text.split('\n').slice(0, -1);
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(overview.text.replaceAll(/ {2,}/g, '\t')).toContain(`\t${line}`);
  });
});

test('bash divides a flag at the equals sign, and replaces only what follows', async () => {
  expect(await offered('check', '--output', '=', 'j')).toEqual(['json', ':4']);
  expect(await offered('check', '--output', '=')).toEqual(['text', 'json', 'yaml', 'github', ':4']);
  expect(await offered('check', '--output', '=', 'json', '--con')).toEqual(['--context', ':4']);
});

test('kubectl asks for completions under a name of its own', async () => {
  const command = await readCommand(['completion', 'z'], {}, 'kubectl_complete-reeve');
  expect(command).toEqual({ kind: 'help', text: 'zsh\n:4' });
});

test('an unknown shell is refused with the known ones', async () => {
  expect(await readCommand(['completion', 'tcsh'], {})).toMatchObject({
    kind: 'wrong',
    problems: ['"tcsh" is not valid; accepted: bash, zsh, fish'],
  });
});

test('a path and words are never offered together', () => {
  expect(completionsText({ offers: [['a', '']], paths: true })).toBe('a\n:4');
});
