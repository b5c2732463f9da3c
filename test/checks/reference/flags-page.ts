// Writes the reference page of all flags from the settings tables of the commands.
import { describedCommands, type DescribedCommand } from '../../../src/cli/command-line.ts';
import { namesOf, variableName, type Setting } from '../../../src/cli/flags/settings.ts';
import { code, page, prose, table } from './markdown.ts';

const commands = await describedCommands();

export function flagsPage(): string {
  return page('Flags', [
    'A flag wins over its environment variable, and a variable over the default. When a flag that takes one value is given twice, the last one counts. `reeve COMMAND --help` prints the same.',
    'In a clone, `npm start -- FLAGS` is `reeve up FLAGS`, and `npm run --silent reeve -- COMMAND FLAGS` is every other command.',
    ...commands.flatMap(sectionOf),
  ]);
}

function sectionOf({ name, summary, form }: DescribedCommand): readonly string[] {
  const { settings, positionals, examples = [], exitCodes = [] } = form;
  return [
    `## ${code(`reeve ${name}`)}`,
    prose(summary),
    ...(positionals === undefined ? [] : [prose(`${positionals.placeholder}: ${positionals.help}`)]),
    ...(Object.keys(settings).length === 0
      ? []
      : [table(['Flag', 'Variable', 'Default', 'Value', 'Meaning'], Object.entries(settings).map(rowOf))]),
    ...(examples.length === 0
      ? []
      : [
          table(
            ['Example', 'Effect'],
            examples.map(([command, effect]) => [code(command), prose(effect)]),
          ),
        ]),
    ...(exitCodes.length === 0
      ? []
      : [
          table(
            ['Exit code', 'Meaning'],
            exitCodes.map(([number, meaning]) => [String(number), prose(meaning)]),
          ),
        ]),
  ];
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
