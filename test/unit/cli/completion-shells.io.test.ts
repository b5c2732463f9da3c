// The scripts of `reeve completion` in real shells. Bash is everywhere; zsh and fish are installed where they are required.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { installPrograms } from '../../cluster/node/packages.ts';
import { compileCache } from '../../support/serve-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-completion-'));
afterAll(() => rmSync(folder, { recursive: true }));

const program = join(import.meta.dirname, '../../../src/main.ts');
const reeve = join(folder, 'reeve');
const start = `NODE_COMPILE_CACHE='${compileCache}' exec '${process.execPath}' '${program}' "$@"`;
writeFileSync(reeve, `#!/bin/sh\n${start}\n`);
chmodSync(reeve, 0o755);
mkdirSync(join(folder, 'policies here'));
writeFileSync(join(folder, 'policies.yaml'), '');

/** A shell that never completes must not hold up the run. */
const timeout = 30_000;

const PATH = `${folder}:${process.env['PATH'] ?? ''}`;

function run(shell: string, args: readonly string[]): string {
  const env = { PATH, HOME: folder, TERM: 'dumb' };
  return execFileSync(shell, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
  });
}

/** The words that bash would divide the line into, with its default COMP_WORDBREAKS. */
function inBash(...words: readonly string[]): readonly string[] {
  const script = `source <(reeve completion bash)
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _reeve; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return lines(run('bash', ['--norc', '-c', script, 'bash', ...words]));
}

/** Types the line, presses the tab key and waits for the added text. zsh completes in a terminal only: zpty gives it one. */
function inZsh(line: string, added: string): string {
  const script = `zmodload zsh/zpty; zpty shell zsh -f -i
    zpty -w shell "PS1=; autoload -U compinit; compinit -u -D; source <(reeve completion zsh); echo r''eady"
    zpty -r shell seen '*ready*'
    zpty -w -n shell ${JSON.stringify(line)}$'\\t'
    zpty -r shell seen ${JSON.stringify(`*${added}*`)}; print -r -- "$seen"; zpty -d shell`;
  return run('zsh', ['-f', '-c', script]);
}

function inFish(line: string): readonly string[] {
  const script = `reeve completion fish | source; complete -C ${JSON.stringify(line)}`;
  return lines(run('fish', ['--no-config', '-c', script])).map((each) => each.split('\t')[0] ?? '');
}

function lines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** With this variable missing shells are installed, and a run without them fails. Otherwise their tests are skipped. */
const areRequired = process.env['REEVE_SHELL_TESTS'] === 'required';
if (areRequired) {
  const shells = ['zsh', 'fish'].map((name) => ({ program: name, package: name }));
  await installPrograms(PATH, (text) => void process.stderr.write(`${text}\n`), shells);
}

function isTested(shell: string): boolean {
  return areRequired || spawnSync(shell, ['--version']).status === 0;
}

describe('in bash', () => {
  test('commands, flags and values are completed', () => {
    expect(inBash('reeve', 'unin')).toEqual(['uninstall']);
    expect(inBash('reeve', 'check', '--con')).toEqual(['--context']);
    expect(inBash('reeve', 'check', '--output', '=', 'j')).toEqual(['json']);
  });

  test('paths are completed, also those with a space', () => {
    expect(inBash('reeve', 'check', '-f', 'pol').toSorted()).toEqual(['policies here', 'policies.yaml']);
    expect(inBash('reeve', 'check', '--filename', '=', 'policies.')).toEqual(['policies.yaml']);
  });
});

describe.runIf(isTested('zsh'))('in zsh', () => {
  test.each([
    ['reeve unin', 'stall '],
    ['reeve check --con', 'text '],
    ['reeve check --output=j', 'son '],
    ['reeve check -f policies.', 'yaml '],
    ['reeve check --filename=policies.', 'yaml '],
  ])('the tab key after %s adds %s', (line, added) => {
    expect(inZsh(line, added)).toContain(added);
  });
});

describe.runIf(isTested('fish'))('in fish', () => {
  test.each([
    ['reeve unin', ['uninstall']],
    ['reeve check --con', ['--context']],
    ['reeve check --output=j', ['--output=json']],
    ['reeve check -o j', ['json']],
    ['reeve check -f policies.', ['policies.yaml']],
    ['reeve check --filename=policies.', ['--filename=policies.yaml']],
  ])('%s becomes %s', (line, completed) => {
    expect(inFish(line)).toEqual(completed);
  });
});
