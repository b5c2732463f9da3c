// Defines the kinds of settings, reads them from flags, environment and defaults, and reports all problems.
import { nearest } from '../../base/nearest.ts';

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false };

/** A row in the table of a command. The key of the row gives the flag (`--probes-port`) and the variable (`REEVE_PROBES_PORT`). */
export interface Setting<T> {
  /** The word for the value in the help. Empty for a switch. */
  readonly placeholder: string;
  readonly help: string;
  readonly accepted: string;
  /** Receives all given values. */
  readonly parse: (texts: readonly string[]) => Parsed<T>;
  /** Undefined for a required setting. */
  readonly fallback: { readonly value: T; readonly shown: string } | undefined;
  /** The letter of the short flag: `f` for `-f`. */
  readonly short?: string;
  /** The values that completion offers. */
  readonly choices?: readonly string[];
  /** False if a variable could not mean the same for each call. Default: true. */
  readonly hasVariable?: boolean;
}

/** The arguments without a flag. */
export interface Positionals {
  readonly placeholder: string;
  readonly help: string;
  readonly min: number;
  readonly max: number;
  /** Default: any text. */
  readonly choices?: readonly string[];
  /** The setting that gets the arguments as values, as if its flag stood before each. */
  readonly setting?: string;
}

/** The text of the help of a command, apart from its summary. */
export interface CommandTable {
  readonly flags: Settings;
  /** Default: none. */
  readonly positionals?: Positionals;
  /** Facts that a user must know in addition to the summary and the flags. */
  readonly details?: string;
  readonly examples?: readonly (readonly [command: string, effect: string])[];
  readonly exitCodes?: readonly (readonly [code: number, meaning: string])[];
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type Values<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};
export type Environment = Readonly<Record<string, string | undefined>>;

type ParsedSettings<T> =
  | { readonly ok: true; readonly values: T; readonly positionals: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

export function readSettings<S extends Settings>(
  settings: S,
  args: readonly string[],
  env: Environment,
  words: Positionals = noPositionals,
): ParsedSettings<Values<S>> {
  const { texts, problems: wrongFlags, positionals } = withArguments(readFlags(settings, args), words);
  const problems = [...wrongFlags, ...positionalProblems(positionals, words)];
  const values = new Map<string, unknown>();
  for (const [key, setting] of Object.entries(settings)) {
    const variable = setting.hasVariable === false ? undefined : env[variableName(key)];
    const outcome = valueOf(key, setting, texts.get(key), variable);
    if ('problem' in outcome) problems.push(outcome.problem);
    else values.set(key, outcome.value);
  }
  if (problems.length > 0) return { ok: false, problems };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each key has the value that its own setting parsed
  return { ok: true, values: Object.fromEntries(values) as Values<S>, positionals };
}

/** Moves the arguments to their setting, if the command has one for them. */
function withArguments(flags: Flags, { setting }: Positionals): Flags {
  const { texts, positionals } = flags;
  if (setting === undefined || positionals.length === 0) return flags;
  const values = [...(texts.get(setting) ?? []), ...positionals];
  return { ...flags, texts: new Map([...texts, [setting, values]]), positionals: [] };
}

const noPositionals: Positionals = { placeholder: '', help: '', min: 0, max: 0 };

function positionalProblems(
  given: readonly string[],
  { placeholder, help, min, max, choices }: Positionals,
): readonly string[] {
  if (given.length < min) return [`${placeholder} is missing: ${help}`];
  const wrong = given.filter((text) => choices?.includes(text) === false);
  if (choices !== undefined && wrong.length > 0)
    return wrong.map((text) => `${JSON.stringify(text)} is not valid; accepted: ${choices.join(', ')}`);
  return given.slice(max).map((text) => `unexpected argument ${JSON.stringify(text)}`);
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
  if (texts === undefined)
    return setting.fallback ?? { problem: `${flagName(key)} is missing; accepted: ${setting.accepted}` };
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
  /** Keys are the keys of settings. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
  readonly problems: readonly string[];
}

function readFlags(settings: Settings, args: readonly string[]): Flags {
  const byFlag = new Map(
    Object.entries(settings).flatMap(([key, setting]) =>
      namesOf(key, setting).map((flag) => [flag, { key, setting }] as const),
    ),
  );
  const isSwitch = (flag: string): boolean => byFlag.get(flag)?.setting.placeholder === '';
  const texts = new Map<string, readonly string[]>();
  const problems: string[] = [];
  const { pairs, positionals } = partsOf(args, isSwitch, (arg) => byFlag.has(arg));
  for (const { flag, value } of pairs) {
    const known = byFlag.get(flag);
    if (known === undefined) problems.push(unknownText(flag, [...byFlag.keys()]));
    else if (value === undefined)
      problems.push(`${flag} requires a value; accepted: ${known.setting.accepted}`);
    else texts.set(known.key, [...(texts.get(known.key) ?? []), value]);
  }
  return { texts, problems, positionals };
}

interface FlagPair {
  readonly flag: string;
  readonly value: string | undefined;
}

/** An unknown flag takes its value too, so that the value is not reported as a second problem. */
function partsOf(
  args: readonly string[],
  isSwitch: (flag: string) => boolean,
  isFlag: (arg: string) => boolean,
): { readonly pairs: readonly FlagPair[]; readonly positionals: readonly string[] } {
  const pairs: FlagPair[] = [];
  const flags = beforeEnd(args);
  const plain: string[] = [];
  for (let index = 0; index < flags.length; index++) {
    const [flag, attached] = splitFlag(flags[index] ?? '', isFlag);
    const next = flags[index + 1];
    if (!flag.startsWith('-') || flag === '-') plain.push(flag);
    else if (attached !== undefined) pairs.push({ flag, value: attached });
    else if (isSwitch(flag)) pairs.push({ flag, value: 'true' });
    else {
      const takesValue = flag.startsWith('--') || isFlag(flag);
      const value = takesValue ? valueIn(next, isFlag) : undefined;
      if (value !== undefined) index++;
      pairs.push({ flag, value });
    }
  }
  return { pairs, positionals: [...plain, ...args.slice(flags.length + 1)] };
}

/** `--` ends the flags. */
export function beforeEnd(args: readonly string[]): readonly string[] {
  return args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
}

function valueIn(arg: string | undefined, isFlag: (arg: string) => boolean): string | undefined {
  return arg === undefined || arg.startsWith('--') || isFlag(arg) ? undefined : arg;
}

/** `--output=json`, `-o=json` and `-ojson` hold their value. */
function splitFlag(arg: string, isFlag: (arg: string) => boolean): readonly [string, string | undefined] {
  const letter = arg.slice(0, 2);
  if (arg.length > 2 && isFlag(letter)) return [letter, arg.slice(2).replace(/^=/, '')];
  const equals = arg.indexOf('=');
  if (!arg.startsWith('-') || equals === -1) return [arg, undefined];
  return [arg.slice(0, equals), arg.slice(equals + 1)];
}

function unknownText(given: string, known: readonly string[]): string {
  // A command without --namespace may still have --install-namespace.
  const word = given === '-n' ? '--namespace' : given;
  // A single letter is similar to every other letter.
  const near = word.startsWith('--')
    ? (likelyMeant(word, known) ?? known.find((flag) => flag.endsWith(word.slice(1))))
    : undefined;
  return `unknown flag ${given}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

/** `-f` and `--filename`. */
export function namesOf(key: string, { short }: Setting<unknown>): readonly string[] {
  return [...(short === undefined ? [] : [`-${short}`]), flagName(key)];
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

/** Returns the known word that was probably meant. Up to a quarter of its letters may be wrong, or two in a short word. */
export function likelyMeant(word: string, known: readonly string[]): string | undefined {
  return nearest(word, known, Math.max(2, Math.floor(word.length / 4)));
}

// The kinds of settings: texts, numbers, durations, choices, lists and switches.

type About = Pick<Setting<unknown>, 'placeholder' | 'help'>;
type AboutValue = About & Pick<Setting<unknown>, 'accepted'>;

/** Parses a setting with one value, where the last value counts. `read` returns undefined for a text that is not accepted. */
export function lastOf<T>(read: (text: string) => T | undefined): (texts: readonly string[]) => Parsed<T> {
  return (texts) => accepted(read(texts.at(-1) ?? ''));
}

function accepted<T>(value: T | undefined): Parsed<T> {
  return value === undefined ? { ok: false } : { ok: true, value };
}

/** A text without a default, which must be given. */
export function requiredText(about: AboutValue): Setting<string> {
  return { ...about, parse: lastText, fallback: undefined };
}

export function optionalText(about: AboutValue): Setting<string | undefined> {
  return { ...about, parse: lastText, fallback: { value: undefined, shown: '' } };
}

export function textSetting(value: string, about: AboutValue): Setting<string> {
  return { ...about, parse: lastText, fallback: { value, shown: value } };
}

const lastText = lastOf((text) => text || undefined);

export function integerSetting(
  value: number,
  lowest: number,
  highest: number,
  about: About,
): Setting<number> {
  return {
    ...about,
    accepted: `a whole number from ${lowest} to ${highest}`,
    fallback: { value, shown: String(value) },
    parse: lastOf((text) => {
      const number = wholeNumber(text) ?? Number.NaN;
      return number >= lowest && number <= highest ? number : undefined;
    }),
  };
}

/** Number() also reads "0x1f", "1e3" and blanks. */
export function wholeNumber(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** A duration in milliseconds. */
export function durationSetting(
  shown: string,
  highestMs: number,
  parseDuration: (text: string) => number | undefined,
  about: AboutValue,
): Setting<number> {
  return {
    ...about,
    fallback: { value: parseDuration(shown) ?? 0, shown },
    parse: lastOf((text) => {
      const value = parseDuration(text);
      return value !== undefined && value <= highestMs ? value : undefined;
    }),
  };
}

export function choiceSetting<T extends string>(value: T, choices: readonly T[], about: About): Setting<T> {
  return {
    ...about,
    accepted: choices.join(', '),
    choices,
    fallback: { value, shown: value },
    parse: lastOf((text) => choices.find((each) => each === text)),
  };
}

/** A list, given by several flags or by one flag with commas. */
export function listSetting(
  isItem: (text: string) => boolean,
  about: AboutValue,
  value: readonly string[] = [],
): Setting<readonly string[]> {
  return {
    ...about,
    fallback: { value, shown: value.join(',') },
    parse: (texts) => {
      const items = texts.flatMap((text) => text.split(',')).map((item) => item.trim());
      return accepted(items.every(isItem) ? items : undefined);
    },
  };
}

/** Paths, each given by a flag of its own, because a path may contain a comma. `-` is standard input. */
export function pathsSetting(about: AboutValue): Setting<readonly string[]> {
  return {
    ...about,
    hasVariable: false,
    fallback: { value: [], shown: '' },
    parse: (texts) => accepted(texts.includes('') ? undefined : texts),
  };
}

/** For a setting whose variable could not mean the same for each call. */
export function withoutVariable<T>(setting: Setting<T>): Setting<T> {
  return { ...setting, hasVariable: false };
}

/** A switch: the flag alone means true, `--flag=false` means false. */
export function switchSetting(help: string, value = false): Setting<boolean> {
  return {
    placeholder: '',
    help,
    accepted: 'true, false',
    fallback: { value, shown: value ? 'true' : '' },
    parse: lastOf((text) => (text === 'true' || text === 'false' ? text === 'true' : undefined)),
  };
}
