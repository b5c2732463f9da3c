// How arguments are read: letters, arguments without a flag, repeated paths, and the texts of the help.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readCommand } from '../../../src/cli/commands.ts';
import { filesSetting, outputSetting } from '../../../src/cli/flags/common-settings.ts';
import { helpOf } from '../../../src/cli/flags/help-text.ts';
import { switchSetting, readSettings } from '../../../src/cli/flags/settings.ts';

const settings = {
  filename: filesSetting('The files.'),
  output: outputSetting({ text: '', json: '' }, 'The format.'),
  all: switchSetting('Everything.'),
};
const targets = { placeholder: 'TARGET', help: 'what to explain', min: 1, max: 2 };

function read(...args: readonly string[]) {
  return readSettings(settings, args, { REEVE_OUTPUT: 'json', REEVE_FILENAME: 'x' }, targets);
}

describe('arguments', () => {
  test.each([
    [['a'], { filename: [], output: 'text', all: false }, ['a']],
    [['-f', 'x,y', '-f', '-', 'a'], { filename: ['x,y', '-'] }, ['a']],
    [['--filename=x', 'a', '-o=json'], { filename: ['x'], output: 'json' }, ['a']],
    [['a', '--all', 'b', '-o', 'json'], { all: true, output: 'json' }, ['a', 'b']],
    [['-fx', '-f-', '-ojson', 'a'], { filename: ['x', '-'], output: 'json' }, ['a']],
    [['-f', '-x', '--', '-o', '--all'], { filename: ['-x'], all: false }, ['-o', '--all']],
  ])('%j are read', (args, values, positionals) => {
    expect(read(...args)).toMatchObject({ ok: true, values, positionals });
  });

  test.each([
    [[], ['TARGET is missing: what to explain']],
    [['a', 'b', 'c'], ['unexpected argument "c"']],
    [['a', '-x', 'b'], ['unknown flag -x']],
    [['-x', 'a'], ['unknown flag -x']],
    [
      ['a', '-f', '-o', 'json'],
      ['-f requires a value; accepted: a YAML or JSON file, a folder of them, or -'],
    ],
    [['a', '-oxml'], ['--output: "xml" is not valid; accepted: text, json']],
    [['a', '-xf'], ['unknown flag -xf']],
    [['a', '-o', 'xml'], ['--output: "xml" is not valid; accepted: text, json']],
    [['a', '-f='], ['--filename: "" is not valid; accepted: a YAML or JSON file, a folder of them, or -']],
  ])('%j is refused', (args, problems) => {
    expect(read(...args)).toEqual({ ok: false, problems });
  });
});

test('the help names letters, arguments without a flag, examples and exit codes', () => {
  const table = {
    flags: settings,
    positionals: targets,
    examples: [['reeve explain ns/a', 'why it is so']],
    exitCodes: [[0, 'Found.']],
  } as const;
  expect(helpOf('kubectl reeve', 'explain', 'Explain.', table).split('\n')).toEqual([
    'Explain.',
    '',
    'Usage: kubectl reeve explain TARGET [--flag value ...]',
    '',
    '  TARGET',
    '      what to explain',
    '',
    '  -f, --filename PATH',
    '      The files.',
    '      (accepted: a YAML or JSON file, a folder of them, or -)',
    '',
    '  -o, --output FORMAT',
    '      The format.',
    '      (default text; accepted: text, json)',
    '',
    '  --all',
    '      Everything.',
    '      (REEVE_ALL)',
    '',
    'A flag overrides its variable, and a variable overrides the default. If a flag is given twice, the last one counts.',
    '',
    'Examples:',
    '  kubectl reeve explain ns/a  # why it is so',
    '',
    'Exit codes:',
    '  0  Found.',
  ]);
});

test.each([
  ['/usr/local/bin/kubectl-reeve', 'kubectl reeve'],
  ['C:\\bin\\kubectl-reeve.cmd', 'kubectl reeve'],
  ['/usr/local/bin/reeve', 'reeve'],
  ['/x/dist/bin/main.cjs', 'reeve'],
])('started as %s, the program calls itself %s', async (path, name) => {
  const { argv } = process;
  process.argv = ['node', path, '--help'];
  try {
    expect(await readCommand(undefined, {})).toMatchObject({
      text: expect.stringContaining(`Usage: ${name} COMMAND`) as unknown,
    });
  } finally {
    process.argv = argv;
  }
});

test.each(['--version', 'version'])('%s prints the version', async (word) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { readonly version: string };
  expect(await readCommand([word], {})).toEqual({ kind: 'help', text: `reeve ${version}` });
});

test('help of a command is the help that --help prints', async () => {
  expect(await readCommand(['help', 'plan'], {})).toEqual(await readCommand(['plan', '--help'], {}));
  expect(await readCommand(['help'], {})).toEqual(await readCommand(['--help'], {}));
  expect(await readCommand(['help', 'plam'], {})).toMatchObject({
    problems: ['unknown command "plam"; did you mean plan?'],
  });
});

describe('reeve check', () => {
  test.each([
    [['-f', 'x', '--wait=2m'], '--wait goes without -f'],
    [['--strict'], '--strict goes with -f'],
    [['-o', 'github'], '-o github goes with -f'],
    [['--cluster'], '--cluster goes with -f'],
    [['--shared-namespace=a'], '--shared-namespace goes with -f'],
    [['--exclude-namespace=a'], '--exclude-namespace goes with -f'],
    [['--resource-kind=v1/ConfigMap'], '--resource-kind goes with -f'],
    [['--secret-name=a'], '--secret-name goes with -f'],
  ])('%j is refused', async (args, problem) => {
    expect(await readCommand(['check', ...args], {})).toMatchObject({
      kind: 'wrong',
      problems: [problem],
      code: 2,
    });
  });
});
