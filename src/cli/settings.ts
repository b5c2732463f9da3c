// Reads the settings of a command from flags, environment and defaults, reports all problems, and writes the help.
import { nearest } from '../base/nearest.ts';

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false };

/** One row of the table of a command. Its key gives the flag (`--probes-port`) and the variable (`REEVE_PROBES_PORT`). */
export interface Setting<T> {
  /** Stands for the value in the help. Empty for a switch. */
  readonly placeholder: string;
  readonly help: string;
  readonly accepted: string;
  /** Gets all given values. A setting with one value uses the last. */
  readonly parse: (texts: readonly string[]) => Parsed<T>;
  /** Undefined for a required setting. */
  readonly fallback: { readonly value: T; readonly shown: string } | undefined;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type Values<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};
export type Environment = Readonly<Record<string, string | undefined>>;

export type ParsedSettings<T> =
  { readonly ok: true; readonly values: T } | { readonly ok: false; readonly problems: readonly string[] };

export function readSettings<S extends Settings>(
  settings: S,
  args: readonly string[],
  env: Environment,
): ParsedSettings<Values<S>> {
  const given = readFlags(settings, args);
  const problems = [...given.problems];
  const values = new Map<string, unknown>();
  for (const [key, setting] of Object.entries(settings)) {
    const outcome = valueOf(key, setting, given.texts.get(key), env[variableName(key)]);
    if ('problem' in outcome) problems.push(outcome.problem);
    else values.set(key, outcome.value);
  }
  if (problems.length > 0) return { ok: false, problems };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each key has the value that its own setting parsed
  return { ok: true, values: Object.fromEntries(values) as Values<S> };
}

type Outcome = { readonly value: unknown } | { readonly problem: string };

function valueOf(
  key: string,
  setting: Setting<unknown>,
  flags: readonly string[] | undefined,
  variable: string | undefined,
): Outcome {
  // An empty variable counts as not set, because compose files and manifests cannot always omit it.
  const texts = flags ?? (variable === undefined || variable === '' ? undefined : [variable]);
  if (texts === undefined) {
    return setting.fallback ?? { problem: `${flagName(key)} is missing; accepted: ${setting.accepted}` };
  }
  const parsed = setting.parse(texts);
  if (parsed.ok) return { value: parsed.value };
  const source = flags === undefined ? variableName(key) : flagName(key);
  return {
    problem: `${source}: ${JSON.stringify(withoutUser(texts.at(-1) ?? ''))} is not valid; accepted: ${setting.accepted}`,
  };
}

/** A URL may hold a password, which must not get into the log. */
function withoutUser(text: string): string {
  return text.replace(/\/\/.*@/s, '//…@');
}

interface Flags {
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly problems: readonly string[];
}

function readFlags(settings: Settings, args: readonly string[]): Flags {
  const byFlag = new Map(Object.entries(settings).map(([key, setting]) => [flagName(key), { key, setting }]));
  const isSwitch = (flag: string): boolean => byFlag.get(flag)?.setting.placeholder === '';
  const texts = new Map<string, readonly string[]>();
  const problems: string[] = [];
  for (const { flag, value } of pairsOf(args, isSwitch)) {
    const known = byFlag.get(flag);
    if (known === undefined) problems.push(unknownText(flag, [...byFlag.keys()]));
    else if (value === undefined)
      problems.push(`${flag} requires a value; accepted: ${known.setting.accepted}`);
    else texts.set(known.key, [...(texts.get(known.key) ?? []), value]);
  }
  return { texts, problems };
}

interface Pair {
  readonly flag: string;
  readonly value: string | undefined;
}

/** An unknown flag takes its value too, so that the value is not reported as a second problem. */
function pairsOf(args: readonly string[], isSwitch: (flag: string) => boolean): readonly Pair[] {
  const pairs: Pair[] = [];
  for (let index = 0; index < args.length; index++) {
    const [flag, attached] = splitFlag(args[index] ?? '');
    if (attached !== undefined) pairs.push({ flag, value: attached });
    else if (isSwitch(flag)) pairs.push({ flag, value: 'true' });
    else {
      const value = flag.startsWith('--') ? valueIn(args[index + 1]) : undefined;
      if (value !== undefined) index++;
      pairs.push({ flag, value });
    }
  }
  return pairs;
}

function valueIn(arg: string | undefined): string | undefined {
  return arg?.startsWith('--') === true ? undefined : arg;
}

function splitFlag(arg: string): readonly [string, string | undefined] {
  const equals = arg.indexOf('=');
  if (!arg.startsWith('--') || equals === -1) return [arg, undefined];
  return [arg.slice(0, equals), arg.slice(equals + 1)];
}

function unknownText(given: string, known: readonly string[]): string {
  if (!given.startsWith('-')) return `unexpected argument ${JSON.stringify(given)}`;
  const near = likelyMeant(given, known);
  return `unknown flag ${given}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

/** `probesPort` -> `--probes-port` */
export function flagName(key: string): string {
  return `--${kebab(key)}`;
}

/** `probesPort` -> `REEVE_PROBES_PORT` */
export function variableName(key: string): string {
  return `REEVE_${kebab(key).replaceAll('-', '_').toUpperCase()}`;
}

function kebab(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns the known word that was probably meant: a quarter of its letters may be wrong, or two of a short word. */
export function likelyMeant(word: string, known: readonly string[]): string | undefined {
  return nearest(word, known, Math.max(2, Math.floor(word.length / 4)));
}

export function overviewOf(summaries: Readonly<Record<string, string>>): string {
  return [
    'Reeve defines what namespaces must look like and contain, and keeps them that way.',
    '',
    'Usage: reeve COMMAND [--flag value ...]',
    '',
    ...Object.entries(summaries).map(([name, summary]) => `  ${name.padEnd(11)}${summary}`),
    '',
    'reeve COMMAND --help lists the flags of a command. Each can also be set in the environment.',
  ].join('\n');
}

/** `details`: what a user must know in addition to the summary and the flags. */
export function helpOf(name: string, summary: string, settings: Settings, details?: string): string {
  return [
    summary,
    '',
    ...(details === undefined ? [] : [details, '']),
    `Usage: reeve ${name} [--flag value ...]`,
    '',
    ...Object.entries(settings).flatMap(([key, setting]) => rowOf(key, setting)),
    'A flag overrides its variable, and a variable overrides the default. If a flag is given twice, the last one counts.',
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
