// Splits CEL into tokens, one at a time, and finds the end of an expression inside a template.
import { CompileError } from './ast.ts';
import { Double, MAX_INT, MAX_UINT, Uint, type Value } from '../values/value.ts';

const SPACE = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const SYMBOL = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;

/** Returns the token at or after an offset. White space and comments are skipped. */
function scanToken(source: string, offset: number): Token {
  const start = offset + matchAt(SPACE, source, offset).length;
  if (start >= source.length) return { kind: 'end', text: 'the end', start, end: start };
  const prefix = stringStart(source, start);
  if (prefix !== undefined) return scanString(source, start, prefix);
  const number = scanNumber(source, start);
  if (number !== undefined) return number;
  const identifier = matchAt(IDENTIFIER, source, start);
  if (identifier !== '')
    return { kind: 'identifier', text: identifier, start, end: start + identifier.length };
  const symbol = matchAt(SYMBOL, source, start);
  if (symbol === '') throw new CompileError('a character that CEL does not know', start);
  return { kind: 'symbol', text: symbol, start, end: start + symbol.length };
}

/** Returns what a sticky pattern matches at an offset, or an empty text. */
function matchAt(pattern: RegExp, source: string, offset: number): string {
  const sticky = new RegExp(pattern.source, 'y');
  sticky.lastIndex = offset;
  return sticky.exec(source)?.[0] ?? '';
}

/** Returns the offset of the brace that closes an expression; undefined when no brace does. */
export function findEnd(source: string, start: number): number | undefined {
  let depth = 0;
  for (let offset = start; ;) {
    const token = scan(source, offset);
    if (token === undefined || token.kind === 'end') return undefined;
    if (token.text === '}' && token.kind === 'symbol') {
      if (depth === 0) return token.start;
      depth -= 1;
    }
    if (token.text === '{' && token.kind === 'symbol') depth += 1;
    offset = token.end;
  }
}

/** Skips a character that CEL does not know. The compiler reports it later. */
function scan(source: string, offset: number): ReturnType<typeof scanToken> | undefined {
  try {
    return scanToken(source, offset);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    const isStray = !/["']/.test(source[error.offset] ?? '"');
    return isStray ? { kind: 'symbol', text: '', start: error.offset, end: error.offset + 1 } : undefined;
  }
}

// Reads literals: strings and bytes with their quotes and escapes, and numbers.

interface StringStart {
  readonly isRaw: boolean;
  readonly isBytes: boolean;
  readonly quote: string;
  /** The offset of the text after the opening quote. */
  readonly bodyStart: number;
}

const START = /(?<prefix>[bB]?[rR]?)(?<quote>"""|'''|"|')/y;

/** Returns undefined when no string begins at the offset. */
function stringStart(source: string, offset: number): StringStart | undefined {
  const pattern = new RegExp(START.source, 'y');
  pattern.lastIndex = offset;
  const match = pattern.exec(source);
  if (match === null) return undefined;
  const { prefix = '', quote = '' } = match.groups ?? {};
  const flags = prefix.toLowerCase();
  return {
    isRaw: flags.includes('r'),
    isBytes: flags.includes('b'),
    quote,
    bodyStart: offset + match[0].length,
  };
}

function scanString(source: string, start: number, opening: StringStart): Token {
  const bodyEnd = findClosingQuote(source, start, opening);
  const end = bodyEnd + opening.quote.length;
  const body = source.slice(opening.bodyStart, bodyEnd);
  // A line break in a literal is a line feed, whatever the file has.
  const text = opening.isRaw ? body : unescapeBody(body.replaceAll(/\r\n?/g, '\n'), opening);
  const span = { text: source.slice(start, end), start, end };
  if (!opening.isBytes)
    return { kind: 'string', value: typeof text === 'string' ? text : joinText(text), ...span };
  return { kind: 'bytes', value: typeof text === 'string' ? encode(text) : joinBytes(text), ...span };
}

function findClosingQuote(source: string, start: number, { quote, bodyStart, isRaw }: StringStart): number {
  for (let index = bodyStart; index < source.length; index += 1) {
    if (source.startsWith(quote, index)) return index;
    const character = source[index];
    if (quote.length === 1 && (character === '\n' || character === '\r')) break;
    if (character === '\\' && !isRaw) index += 1;
  }
  throw new CompileError('the string does not end', start);
}

/** A piece of a literal: plain text, or the number of an escape. */
type Piece = { readonly text: string } | { readonly code: number; readonly isOctet: boolean };

const ESCAPE =
  /\\(?:(?<simple>[abfnrtv\\?"'`])|[xX](?<hex>[0-9a-fA-F]{2})|u(?<short>[0-9a-fA-F]{4})|U(?<long>[0-9a-fA-F]{8})|(?<octal>[0-3][0-7]{2}))/y;
const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

function unescapeBody(body: string, opening: StringStart): readonly Piece[] {
  const pieces: Piece[] = [];
  const pattern = new RegExp(ESCAPE.source, 'y');
  for (let index = 0; index < body.length;) {
    const next = body.indexOf('\\', index);
    const plain = next === -1 ? body.length : next;
    if (plain > index) pieces.push({ text: body.slice(index, plain) });
    index = plain;
    if (next === -1) break;
    pattern.lastIndex = index;
    const match = pattern.exec(body);
    const piece = match === null ? undefined : readEscape(match.groups ?? {}, opening.isBytes);
    if (match === null || piece === undefined) {
      throw new CompileError('this escape is not one of CEL', opening.bodyStart + index);
    }
    pieces.push(piece);
    index += match[0].length;
  }
  return pieces;
}

function readEscape(
  groups: Readonly<Record<string, string | undefined>>,
  isBytes: boolean,
): Piece | undefined {
  const { simple, hex, short, long, octal } = groups;
  if (simple !== undefined) return { text: SIMPLE.get(simple) ?? simple };
  if (hex !== undefined) return { code: Number.parseInt(hex, 16), isOctet: true };
  if (octal !== undefined) return { code: Number.parseInt(octal, 8), isOctet: true };
  const code = Number.parseInt(short ?? long ?? '', 16);
  const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isBytes || !isCharacter ? undefined : { code, isOctet: false };
}

function joinText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : String.fromCodePoint(piece.code))).join('');
}

/** In bytes, an escape is one octet and text is UTF-8. */
function joinBytes(pieces: readonly Piece[]): Uint8Array {
  return Uint8Array.from(
    pieces.flatMap((piece) => ('text' in piece ? [...encode(piece.text)] : [piece.code])),
  );
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const NUMBER =
  /(?<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|(?<int>0x[0-9a-fA-F]+|\d+)(?<unsigned>[uU])?/;

/** Returns undefined when no number begins at the offset. */
function scanNumber(source: string, start: number): Token | undefined {
  const pattern = new RegExp(NUMBER.source, 'y');
  pattern.lastIndex = start;
  const match = pattern.exec(source);
  if (match === null) return undefined;
  const span = { text: match[0], start, end: start + match[0].length };
  const { double, int = '0', unsigned } = match.groups ?? {};
  if (double !== undefined) return { kind: 'double', value: readDouble(double, start), ...span };
  if (unsigned !== undefined)
    return { kind: 'uint', value: new Uint(readInteger(int, MAX_UINT, start)), ...span };
  // Allows one more than the greatest int; the parser accepts that only after a minus sign.
  return { kind: 'int', value: readInteger(int, MAX_INT + 1n, start), ...span };
}

function readInteger(text: string, max: bigint, offset: number): bigint {
  const value = BigInt(text);
  if (value > max) throw new CompileError('the number is too large', offset);
  return value;
}

function readDouble(text: string, offset: number): Double {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new CompileError('the number is too large', offset);
  return new Double(value);
}

// Defines a token of CEL: its kind, its text, its place, and the value of a literal.

type Token =
  | {
      readonly kind: 'end' | 'identifier' | 'symbol';
      readonly text: string;
      readonly start: number;
      readonly end: number;
    }
  | {
      readonly kind: 'int' | 'uint' | 'double' | 'string' | 'bytes';
      readonly text: string;
      readonly value: Value;
      readonly start: number;
      readonly end: number;
    };

// Gives the parser the tokens of one expression, and limits the depth of nesting.

/** The limit of cel-go: https://github.com/google/cel-go/blob/v0.26.0/parser/options.go */
const MAX_DEPTH = 250;

export class TokenStream {
  readonly source: string;
  #next: Token;
  #depth = 0;

  constructor(source: string) {
    this.source = source;
    this.#next = scanToken(source, 0);
  }

  peek(): Token {
    return this.#next;
  }

  take(): Token {
    const token = this.#next;
    this.#next = scanToken(this.source, token.end);
    return token;
  }

  accept(text: string): boolean {
    if (!this.#isNext(text)) return false;
    this.take();
    return true;
  }

  peekAny(texts: readonly string[]): string | undefined {
    return texts.find((text) => this.#isNext(text));
  }

  acceptAny(texts: readonly string[]): string | undefined {
    const text = this.peekAny(texts);
    if (text !== undefined) this.take();
    return text;
  }

  expect(text: string): Token {
    const token = this.#next;
    if (!this.accept(text)) throw new CompileError(`expected ${text}`, token.start);
    return token;
  }

  /** Returns true for a minus sign directly before a number. */
  isNegativeNumber(): boolean {
    if (!this.#isNext('-')) return false;
    const { kind } = scanToken(this.source, this.#next.end);
    return kind === 'int' || kind === 'double';
  }

  /** Parses one level deeper. Too many levels are a problem instead of a stack overflow. */
  nested<T>(parse: () => T): T {
    this.#depth += 1;
    this.checkDepth(0, this.#next.start);
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  /** Checks the depth of a chain, counted from the current level of the parser. */
  checkDepth(extra: number, offset: number): void {
    if (this.#depth + extra > MAX_DEPTH)
      throw new CompileError('the expression is nested too deeply', offset);
  }

  #isNext(text: string): boolean {
    const { kind } = this.#next;
    return this.#next.text === text && (kind === 'symbol' || kind === 'identifier');
  }
}
