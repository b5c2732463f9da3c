// The kinds of settings: texts, numbers, durations, choices, lists and switches.
import type { Parsed, Setting } from './settings.ts';

const wrong = { ok: false } as const;

interface About {
  readonly placeholder: string;
  readonly help: string;
}

/** A text without a default, which must be given. */
export function requiredText(about: About & { readonly accepted: string }): Setting<string> {
  return { ...about, parse: lastText, fallback: undefined };
}

export function optionalText(about: About & { readonly accepted: string }): Setting<string | undefined> {
  return { ...about, parse: lastText, fallback: { value: undefined, shown: '' } };
}

export function textSetting(value: string, about: About & { readonly accepted: string }): Setting<string> {
  return { ...about, parse: lastText, fallback: { value, shown: value } };
}

function lastText(texts: readonly string[]): Parsed<string> {
  const value = texts.at(-1) ?? '';
  return value === '' ? wrong : { ok: true, value };
}

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
    parse: (texts) => {
      const text = texts.at(-1) ?? '';
      const parsed = Number(text);
      // Number() also reads "0x1f", "1e3" and blanks.
      return /^\d{1,9}$/.test(text) && parsed >= lowest && parsed <= highest
        ? { ok: true, value: parsed }
        : wrong;
    },
  };
}

/** A duration in milliseconds. */
export function durationSetting(
  shown: string,
  highestMs: number,
  parseDuration: (text: string) => number | undefined,
  about: About & { readonly accepted: string },
): Setting<number> {
  return {
    ...about,
    fallback: { value: parseDuration(shown) ?? 0, shown },
    parse: (texts) => {
      const value = parseDuration(texts.at(-1) ?? '');
      return value !== undefined && value <= highestMs ? { ok: true, value } : wrong;
    },
  };
}

export function choiceSetting<T extends string>(value: T, choices: readonly T[], about: About): Setting<T> {
  return {
    ...about,
    accepted: choices.join(', '),
    choices,
    fallback: { value, shown: value },
    parse: (texts) => {
      const found = choices.find((each) => each === texts.at(-1));
      return found === undefined ? wrong : { ok: true, value: found };
    },
  };
}

/** A list, given by several flags or by one flag with commas. */
export function listSetting(
  isItem: (text: string) => boolean,
  about: About & { readonly accepted: string },
  value: readonly string[] = [],
): Setting<readonly string[]> {
  return {
    ...about,
    fallback: { value, shown: value.join(',') },
    parse: (texts) => {
      const items = texts.flatMap((text) => text.split(',')).map((item) => item.trim());
      return items.every(isItem) ? { ok: true, value: items } : wrong;
    },
  };
}

/** Paths, each given by a flag of its own, because a path may contain a comma. `-` is standard input. */
export function pathsSetting(about: About & { readonly accepted: string }): Setting<readonly string[]> {
  return {
    ...about,
    hasVariable: false,
    fallback: { value: [], shown: '' },
    parse: (texts) => (texts.includes('') ? wrong : { ok: true, value: texts }),
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
    parse: (texts) => {
      const text = texts.at(-1);
      return text === 'true' || text === 'false' ? { ok: true, value: text === 'true' } : wrong;
    },
  };
}
