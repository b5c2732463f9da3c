// README.md and docs/ are true: their curl commands run as written and print what is shown, and the first policy loads.
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { renderFileProblem } from '../../src/state/yaml-files.ts';
import { loadPolicyFiles } from '../../src/state/file-cluster.ts';
import { blocksOf, curlExamples, tableBelow } from './markdown.ts';
import { copyProject, demandFreePort } from './project-copy.ts';
import { startCommand, type RunningCommand } from './running-command.ts';

const root = join(import.meta.dirname, '../..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const readme = textOf('README.md');
const byHand = textOf('docs/webhook-by-hand.md');
const gettingStarted = textOf('docs/getting-started.md');
const examples = [readme, byHand].flatMap(curlExamples);

describe('the curl commands', () => {
  let copy = '';
  let reeve: RunningCommand | undefined;

  beforeAll(async () => {
    for (const port of [8443, 8081]) await demandFreePort(port);
    copy = copyProject(root);
    reeve = await startCommand('npm', ['run', 'serve'], copy);
  });

  afterAll(async () => {
    await reeve?.stop();
    if (copy !== '') rmSync(copy, { recursive: true });
  });

  it('npm run serve prints the line that docs/webhook-by-hand.md shows', () => {
    expect(blocksOf(byHand).map(({ text }) => text.trimEnd())).toContain(reeve?.readyLine);
  });

  it('every curl command of README.md and docs/ is tested', () => {
    expect(examples.length).toBeGreaterThan(5);
    const pages = globSync('{*.md,docs/**/*.md}', { cwd: root }).map(textOf);
    const lines = pages.flatMap((page) => page.split('\n').filter((line) => line.startsWith('curl ')));
    expect(lines).toHaveLength(examples.length);
  });

  it.each(examples)('$command', ({ command, output }) => {
    const { stdout, status } = spawnSync('sh', ['-c', command], { cwd: copy, encoding: 'utf8' });
    expect(status).toBe(0);
    expect(read(stdout, output.language)).toEqual(read(output.text, output.language));
  });
});

describe('the policy of docs/getting-started.md', () => {
  const example = blocksOf(gettingStarted).find(({ language }) => language === 'yaml')?.text ?? '';

  it('the policy loads without a problem', async () => {
    expect(await problemsOf(example)).toEqual([]);
  });

  it('each of the two mistakes gives the problem that is shown', async () => {
    const misspelt = await problemsOf(example.replace('required:', 'requird:'));
    const unfinished = await problemsOf(example.replace('size()', 'size('));
    const shown = blocksOf(gettingStarted).find(({ text }) => text.startsWith('my-policies/'));
    expect([...misspelt, ...unfinished]).toEqual(shown?.text.trimEnd().split('\n'));
  });
});

test('the table of dependencies in README.md has a row for each library that src imports', () => {
  const files = globSync('src/**/*.ts').map(textOf);
  const imported = files.flatMap((text) => [
    ...text.matchAll(/^(?:import|\} from|.*\bimport\().*'(?!node:)([^.'\s][^'\s]*)'/gm),
  ]);
  const listed = tableBelow(readme, '## Dependencies').map(([name]) => name);
  expect(listed).toEqual([...new Set(imported.map(([, name = '']) => name))].sort());
});

/** JSON is shown in several lines, which makes no difference. */
function read(text: string, language: string): unknown {
  return language === 'json' ? JSON.parse(text) : text;
}

async function problemsOf(policy: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-readme-'));
  try {
    const file = join(folder, 'apps.yaml');
    writeFileSync(file, policy);
    const { problems } = await loadPolicyFiles(file);
    return problems.map((problem) => renderFileProblem({ ...problem, file: 'my-policies/apps.yaml' }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
