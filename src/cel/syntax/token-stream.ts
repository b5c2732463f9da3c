// Gives the parser the tokens of one expression, and limits the depth of nesting.
import { scanToken } from './lexer.ts';
import { CompileProblem } from './ast.ts';
import type { Token } from './token.ts';

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
    if (!this.accept(text)) throw new CompileProblem(`expected ${text}`, token.start);
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
      throw new CompileProblem('the expression is nested too deeply', offset);
  }

  #isNext(text: string): boolean {
    const { kind } = this.#next;
    return this.#next.text === text && (kind === 'symbol' || kind === 'identifier');
  }
}
