// Finds what a shell may offer for the word that a user is typing.
import { flagName, namesOf, type CommandTable, type Setting } from './settings.ts';

/** A command as completion sees it. */
interface NamedCommand {
  readonly name: string;
  readonly summary: string;
  readonly form: CommandTable;
}

export interface Completions {
  readonly offers: readonly Offer[];
  /** True if a path may stand here. */
  readonly paths: boolean;
}

type Offer = readonly [word: string, meaning: string];

/** `words`: everything after the name of the program. The last one is being typed, and may be empty. */
export function completionsOf(words: readonly string[], commands: readonly NamedCommand[]): Completions {
  const { texts, prefix } = asTyped(words);
  const current = texts.at(-1) ?? '';
  const found = candidates(texts.slice(0, -1), current, commands);
  const offers = found.offers
    .filter(([word]) => word.startsWith(current))
    .map(([word, meaning]): Offer => [word.slice(prefix.length), meaning]);
  return { ...found, offers };
}

const nothing: Completions = { offers: [], paths: false };

function candidates(
  [name, ...before]: readonly string[],
  current: string,
  commands: readonly NamedCommand[],
): Completions {
  if (name === undefined)
    return { offers: commands.map(({ name: each, summary }) => [each, summary]), paths: false };
  const command = commands.find((each) => each.name === name);
  if (command === undefined) return nothing;
  const { settings, positionals } = command.form;
  const settingOf = (flag: string): Setting<unknown> | undefined =>
    Object.entries(settings).find(([key, each]) => namesOf(key, each).includes(flag))?.[1];
  const isEnded = before.includes('--');
  const [flag = '', value] = current.split('=', 2);
  if (!isEnded && current.startsWith('-'))
    return value === undefined ? flagsOf(command) : valuesOf(settingOf(flag), `${flag}=`);
  const last = isEnded ? undefined : settingOf(before.at(-1) ?? '');
  return valuesOf(last === undefined || last.placeholder === '' ? positionals : last, '');
}

function flagsOf({ form }: NamedCommand): Completions {
  const flags = Object.entries(form.settings).map(([key, { help }]): Offer => [flagName(key), help]);
  return { offers: [...flags, ['--help', 'Describe the command and its flags.']], paths: false };
}

type Accepting = Pick<Setting<unknown>, 'placeholder' | 'choices'>;

function valuesOf(accepting: Accepting | undefined, prefix: string): Completions {
  if (accepting === undefined) return nothing;
  const { placeholder, choices = [] } = accepting;
  return {
    offers: choices.map((choice) => [`${prefix}${choice}`, '']),
    paths: /\b(?:PATH|FILE|DIR|TARGET)S?\b/.test(placeholder),
  };
}

interface Typed {
  readonly texts: readonly string[];
  /** What of the last word the shell does not replace. */
  readonly prefix: string;
}

/** Bash takes `--output=json` for three words. */
function asTyped(words: readonly string[]): Typed {
  const texts: string[] = [];
  let prefix = '';
  for (const [index, word] of words.entries()) {
    const isAfterEquals = words[index - 1] === '=' && index > 1;
    if (index > 0 && (word === '=' || isAfterEquals)) {
      prefix = `${texts.at(-1) ?? ''}${word === '=' ? '=' : ''}`;
      texts.push(`${texts.pop() ?? ''}${word}`);
    } else {
      prefix = '';
      texts.push(word);
    }
  }
  return { texts, prefix };
}

/** The text that kubectl reads from the completion of a plugin: https://github.com/kubernetes/sample-cli-plugin#shell-completion */
export function completionsText({ offers, paths }: Completions): string {
  const lines = offers.map(([word, meaning]) => (meaning === '' ? word : `${word}\t${meaning}`));
  // 4: this is no place for a path.
  return [...lines, paths && offers.length === 0 ? ':0' : ':4'].join('\n');
}
