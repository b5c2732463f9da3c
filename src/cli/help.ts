// The help texts: of the program, and of each command from the table of its settings.
import { flagName, variableName } from './settings.ts';
import type { Setting, Settings } from './settings.ts';

export function overviewOf(summaries: Readonly<Record<string, string>>): string {
  return [
    'Reeve keeps namespaces in order: what they must look like, before they persist.',
    '',
    'Usage: reeve COMMAND [--flag value ...]',
    '',
    ...Object.entries(summaries).map(([name, summary]) => `  ${name.padEnd(11)}${summary}`),
    '',
    'reeve COMMAND --help lists the flags of a command. Each can also be set in the environment.',
  ].join('\n');
}

/** `details`: what a person has to know who runs it, where the summary and the flags do not say it. */
export function helpOf(name: string, summary: string, settings: Settings, details?: string): string {
  return [
    summary,
    '',
    ...(details === undefined ? [] : [details, '']),
    `Usage: reeve ${name} [--flag value ...]`,
    '',
    ...Object.entries(settings).flatMap(([key, setting]) => rowOf(key, setting)),
    'A flag wins over its variable, a variable over the default. Of a flag that is given twice, the last one counts.',
  ].join('\n');
}

function rowOf(key: string, setting: Setting<unknown>): readonly string[] {
  const { placeholder, help, accepted, fallback } = setting;
  const usage = placeholder === '' ? flagName(key) : `${flagName(key)} ${placeholder}`;
  const notes = [
    variableName(key),
    fallback === undefined ? 'required' : fallback.shown === '' ? '' : `default ${fallback.shown}`,
    placeholder === '' ? '' : `accepted: ${accepted}`,
  ];
  return [`  ${usage}`, `      ${help}`, `      (${notes.filter((note) => note !== '').join('; ')})`, ''];
}
