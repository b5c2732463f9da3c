// Finds the words that a shell may offer for the word that a user is typing.
import { flagName, namesOf, type CommandTable, type Setting } from './settings.ts';

export interface Completions {
  readonly offers: readonly Offer[];
  /** True if the word may be a path. */
  readonly paths: boolean;
}

type Offer = readonly [word: string, meaning: string];

/**
 * `words` follow the name of the program. The last word is being typed, and may be empty. `table` belongs to the named command.
 */
export function completionsOf(
  words: readonly string[],
  summaries: readonly Offer[],
  table: CommandTable | undefined,
): Completions {
  const { texts, prefix } = asTyped(words);
  const current = texts.at(-1) ?? '';
  const [name, ...before] = texts.slice(0, -1);
  const found = name === undefined ? { offers: summaries, paths: false } : candidates(before, current, table);
  const offers = found.offers
    .filter(([word]) => word.startsWith(current))
    .map(([word, meaning]): Offer => [word.slice(prefix.length), meaning]);
  return { ...found, offers };
}

const nothing: Completions = { offers: [], paths: false };

function candidates(
  before: readonly string[],
  current: string,
  table: CommandTable | undefined,
): Completions {
  if (table === undefined) return nothing;
  const { flags, positionals } = table;
  const settingOf = (flag: string): Setting<unknown> | undefined =>
    Object.entries(flags).find(([key, each]) => namesOf(key, each).includes(flag))?.[1];
  const isEnded = before.includes('--');
  const [flag = '', value] = current.split('=', 2);
  if (!isEnded && current.startsWith('-'))
    return value === undefined ? flagsOf(table) : valuesOf(settingOf(flag), `${flag}=`);
  const last = isEnded ? undefined : settingOf(before.at(-1) ?? '');
  return valuesOf(last === undefined || last.placeholder === '' ? positionals : last, '');
}

function flagsOf({ flags }: CommandTable): Completions {
  const offers = Object.entries(flags).map(([key, { help }]): Offer => [flagName(key), help]);
  return { offers: [...offers, ['--help', 'Describe the command and its flags.']], paths: false };
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
  /** The start of the last word that the shell keeps. */
  readonly prefix: string;
}

/** Joins the words that the user typed as one. Bash splits `--output=json` into three words. */
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
  // The number 4 says that a path cannot stand here.
  return [...lines, paths && offers.length === 0 ? ':0' : ':4'].join('\n');
}
