// Writes the help of the program and of each command.
import { exitCodeMeanings } from '../exit-codes.ts';
import { namesOf, variableName, type CommandTable, type Setting } from './settings.ts';

/** `program`: `reeve`, or `kubectl reeve` for the plugin. */
export function overviewOf(program: string, summaries: readonly (readonly [string, string])[]): string {
  return [
    'Reeve defines what namespaces must look like and contain, and keeps them that way.',
    '',
    `Usage: ${program} COMMAND [--flag value ...]`,
    '',
    ...aligned(summaries),
    '',
    `${program} COMMAND --help lists the flags of a command. Most can also be set in the environment.`,
    `${program} --version prints the version.`,
    ...titled('Exit codes of all commands:', codeLines(exitCodeMeanings)),
  ].join('\n');
}

export function helpOf(program: string, name: string, summary: string, table: CommandTable): string {
  const { flags, details, positionals, examples = [], exitCodes = [] } = table;
  const rows = Object.entries(flags);
  const words = positionals === undefined ? '' : ` ${positionals.placeholder}`;
  return [
    summary,
    '',
    ...(details === undefined ? [] : [details, '']),
    `Usage: ${program} ${name}${words}${rows.length === 0 ? '' : ' [--flag value ...]'}`,
    '',
    ...(positionals === undefined ? [] : [`  ${positionals.placeholder}`, `      ${positionals.help}`, '']),
    ...rows.flatMap(([key, setting]) => rowOf(key, setting)),
    ...(rows.length === 0 ? [] : [overridesText]),
    ...titled(
      'Examples:',
      aligned(examples.map(([command, effect]) => [calledBy(program, command), `# ${effect}`])),
    ),
    ...titled('Exit codes:', codeLines(exitCodes)),
  ].join('\n');
}

const overridesText =
  'A flag overrides its variable, and a variable overrides the default. If a flag is given twice, the last one counts.';

function codeLines(codes: typeof exitCodeMeanings): readonly string[] {
  return aligned(codes.map(([code, meaning]) => [String(code), meaning]));
}

function calledBy(program: string, command: string): string {
  return command.replaceAll(/\breeve (?=[a-z])/g, `${program} `);
}

function titled(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines];
}

function aligned(pairs: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...pairs.map(([first]) => first.length));
  return pairs.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`);
}

function rowOf(key: string, setting: Setting<unknown>): readonly string[] {
  const { placeholder, help, accepted, fallback, hasVariable = true } = setting;
  const flags = namesOf(key, setting).join(', ');
  const usage = placeholder === '' ? flags : `${flags} ${placeholder}`;
  const notes = [
    hasVariable ? variableName(key) : '',
    fallback === undefined ? 'required' : fallback.shown === '' ? '' : `default ${fallback.shown}`,
    placeholder === '' ? '' : `accepted: ${accepted}`,
  ].filter((note) => note !== '');
  return [`  ${usage}`, `      ${help}`, ...(notes.length === 0 ? [] : [`      (${notes.join('; ')})`]), ''];
}
