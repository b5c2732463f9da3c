// Writes the reference page of all flags from the flags tables of the commands.
import { describedCommands } from '../../../src/cli/commands.ts';
import { exitCodeMeanings } from '../../../src/cli/exit-codes.ts';
import { namesOf, variableName, type Setting } from '../../../src/cli/flags/settings.ts';
import { code, page, prose, table } from './markdown.ts';

type DescribedCommand = Awaited<ReturnType<typeof describedCommands>>[number];

const ofProgram = await describedCommands();

export function flagsPage(commands: readonly DescribedCommand[] = ofProgram): string {
  return page('Flags', [
    'A flag wins over its environment variable, and a variable over the default. When a flag that takes one value is given twice, the last one counts. `reeve COMMAND --help` prints the same.',
    'In a clone, `npm start -- FLAGS` is `reeve up FLAGS`, and `npm run --silent reeve -- COMMAND FLAGS` is every other command.',
    'The exit codes of all commands. `run`, `serve` and `up` exit with 0 after a signal, with 1 if a second signal ends them at once, and with 3 if they do not start or an internal error ends them.',
    codesTable(exitCodeMeanings),
    '`-n` and `--namespace` name the namespace that a command looks at, as in kubectl. `--install-namespace` names the one that Reeve is installed in; only the programs `run` and `serve`, which look at no single namespace, call it `--namespace`.',
    ...commands.flatMap(sectionOf),
  ]);
}

function sectionOf({
  name,
  summary,
  table: { flags, positionals, examples = [], exitCodes = [] },
}: DescribedCommand): readonly string[] {
  return [
    `## ${code(`reeve ${name}`)}`,
    prose(summary),
    ...(positionals === undefined ? [] : [prose(`${positionals.placeholder}: ${positionals.help}`)]),
    ...(Object.keys(flags).length === 0
      ? []
      : [table(['Flag', 'Variable', 'Default', 'Value', 'Meaning'], Object.entries(flags).map(rowOf))]),
    ...(examples.length === 0
      ? []
      : [
          table(
            ['Example', 'Effect'],
            examples.map(([command, effect]) => [code(command), prose(effect)]),
          ),
        ]),
    ...(exitCodes.length === 0 ? [] : [codesTable(exitCodes)]),
  ];
}

function codesTable(codes: typeof exitCodeMeanings): string {
  return table(
    ['Exit code', 'Meaning'],
    codes.map(([number, meaning]) => [String(number), prose(meaning)]),
  );
}

function rowOf([key, setting]: readonly [string, Setting<unknown>]): readonly string[] {
  const { placeholder, fallback, accepted, help, hasVariable = true } = setting;
  return [
    code(`${namesOf(key, setting).join(', ')}${placeholder === '' ? '' : ` ${placeholder}`}`),
    hasVariable ? code(variableName(key)) : '',
    fallback === undefined ? 'required' : fallback.shown === '' ? '' : code(fallback.shown),
    prose(accepted),
    prose(help),
  ];
}
