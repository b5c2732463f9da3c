// Writes the reference page of all flags from the settings tables of the commands.
import { readCommand } from '../../../src/cli/command-line.ts';
import {
  certsSettings,
  checkSettings,
  serveSettings,
  uninstallSettings,
  upSettings,
} from '../../../src/cli/command-settings.ts';
import { runSettings } from '../../../src/cli/run-settings.ts';
import { flagName, variableName, type Setting, type Settings } from '../../../src/cli/settings.ts';
import { code, page, prose, table } from './markdown.ts';

const commands: Readonly<Record<string, Settings>> = {
  up: upSettings,
  run: runSettings,
  serve: serveSettings,
  certs: certsSettings,
  check: checkSettings,
  uninstall: uninstallSettings,
};

export function flagsPage(): string {
  const unknown = commandsInHelp().filter((name) => !Object.hasOwn(commands, name));
  if (unknown.length > 0) throw new Error(`the page of flags knows no command ${unknown.join(', ')}`);
  return page('Flags', [
    'A flag wins over its environment variable, and a variable over the default. When a flag that takes one value is given twice, the last one counts. `reeve COMMAND --help` prints the same.',
    'In a clone, `npm start -- FLAGS` is `reeve up FLAGS`, and `npm run --silent reeve -- COMMAND FLAGS` is every other command.',
    ...Object.entries(commands).flatMap(([name, settings]) => [
      `## ${code(`reeve ${name}`)}`,
      prose(helpOf([name, '--help']).split('\n', 1)[0] ?? ''),
      table(['Flag', 'Variable', 'Default', 'Value', 'Meaning'], Object.entries(settings).map(rowOf)),
    ]),
  ]);
}

function rowOf([key, setting]: readonly [string, Setting<unknown>]): readonly string[] {
  const { placeholder, fallback, accepted, help } = setting;
  return [
    code(`${flagName(key)}${placeholder === '' ? '' : ` ${placeholder}`}`),
    code(variableName(key)),
    fallback === undefined ? 'required' : fallback.shown === '' ? '' : code(fallback.shown),
    prose(accepted),
    prose(help),
  ];
}

/** The names in the overview, which lists every command with two spaces before it. */
function commandsInHelp(): readonly string[] {
  return [...helpOf(['--help']).matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = '']) => name);
}

function helpOf(args: readonly string[]): string {
  const command = readCommand(args, {});
  if (command.kind !== 'help') throw new Error(`no help for ${args.join(' ')}`);
  return command.text;
}
