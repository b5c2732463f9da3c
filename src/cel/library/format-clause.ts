// Splits a format into plain text and the places for values.

export interface Clause {
  readonly verb: 'b' | 'd' | 'e' | 'f' | 'o' | 's' | 'x' | 'X';
  readonly precision: number;
}

const DEFAULT_PRECISION = 6;
/** More digits than any double has; Go itself knows no limit. */
const MAX_PRECISION = 100;
const CLAUSE = /%(?:%|(?:\.(?<precision>\d+))?(?<verb>[bdefosxX]))/y;

/** The parts in order, or what is wrong with the format. */
export function parseFormat(format: string): readonly (string | Clause)[] | string {
  const parts: (string | Clause)[] = [];
  const pattern = new RegExp(CLAUSE.source, 'y');
  for (let index = 0; index < format.length;) {
    const next = format.indexOf('%', index);
    const plain = next === -1 ? format.length : next;
    if (plain > index) parts.push(format.slice(index, plain));
    if (next === -1) break;
    pattern.lastIndex = next;
    const match = pattern.exec(format);
    if (match === null) return 'what follows % in a format is one of s d f e x X o b %';
    const { precision, verb } = match.groups ?? {};
    if (Number(precision ?? 0) > MAX_PRECISION) return `a precision is at most ${MAX_PRECISION}`;
    parts.push(isVerb(verb) ? { verb, precision: Number(precision ?? DEFAULT_PRECISION) } : '%');
    index = pattern.lastIndex;
  }
  return parts;
}

function isVerb(text: string | undefined): text is Clause['verb'] {
  return text !== undefined;
}
