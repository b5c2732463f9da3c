// Rewrites the names in a pattern as Go reads them, for the library that compiles the pattern.
// https://pkg.go.dev/regexp/syntax

/** Escapes, quoted text and character classes stand here too, so that no name is found inside of them. */
const parts =
  /\\Q[^]*?(?:\\E|$)|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\\[pP](?:\{[^}]*\}|[^])|\\[^]|\(\?P?<\w+>/gu;
const escapes = /\\[pP](?:\{[^}]*\}|[^])|\\[^]/gu;

/**
 * Go ignores case, spaces, `_` and `-` in the name of a Unicode class, and knows the long names of categories. Go lets two
 * groups have one name. No caller asks for a group by name, so each group gets another name.
 */
export function withLibraryNames(pattern: string): string {
  return pattern.replaceAll(parts, (part, at: number) => {
    if (part.startsWith('(')) return `(?<g${at}>`;
    if (part.startsWith('[')) return part.replaceAll(escapes, withClassName);
    return withClassName(part);
  });
}

/** `\p{^uppercase_letter}` → `\p{^Lu}` */
function withClassName(escape: string): string {
  const [, head, sign = '', name] = /^(\\[pP])\{?(\^?)([^}]*)\}?$/u.exec(escape) ?? [];
  if (head === undefined || name === undefined) return escape;
  const canonical = canonicalName(name);
  return `${head}{${sign}${unknownToGo.has(canonical) ? '' : (categories.get(canonical) ?? canonical)}}`;
}

function canonicalName(name: string): string {
  const lower = name.replaceAll(/[ _-]/g, '').replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return lower.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

/** Go 1.26 has the scripts of Unicode 15, and no properties. Longer names of both have a `_`, which Go does not find. */
const unknownToGo: ReadonlySet<string> = new Set(
  'Alphabetic Dash Emoji Garay Lowercase Math Sidetic Sunuwar Todhri Unknown Uppercase'.split(' '),
);

/** https://www.unicode.org/reports/tr44/#General_Category_Values */
const longNames = `
  C Other, Cc Control, Cc Cntrl, Cf Format, Cn Unassigned, Co PrivateUse, Cs Surrogate,
  L Letter, LC CasedLetter, Ll LowercaseLetter, Lm ModifierLetter, Lo OtherLetter, Lt TitlecaseLetter,
  Lu UppercaseLetter, M Mark, M CombiningMark, Mc SpacingMark, Me EnclosingMark, Mn NonspacingMark,
  N Number, Nd DecimalNumber, Nd Digit, Nl LetterNumber, No OtherNumber,
  P Punctuation, P Punct, Pc ConnectorPunctuation, Pd DashPunctuation, Pe ClosePunctuation,
  Pf FinalPunctuation, Pi InitialPunctuation, Po OtherPunctuation, Ps OpenPunctuation,
  S Symbol, Sc CurrencySymbol, Sk ModifierSymbol, Sm MathSymbol, So OtherSymbol,
  Z Separator, Zl LineSeparator, Zp ParagraphSeparator, Zs SpaceSeparator`;

const categories: ReadonlyMap<string, string> = new Map(
  longNames.split(',').map((entry) => {
    const [short = '', long = ''] = entry.trim().split(' ');
    return [canonicalName(long), short] as const;
  }),
);
