// Parses CEL by recursive descent: the operators here, their operands in primary.ts.
import { type Call, type Node, unexpected } from './ast.ts';
import { parseMember } from './primary.ts';
import { TokenStream } from './lexer.ts';

export function parse(source: string): Node {
  const tokens = new TokenStream(source);
  const node = parseExpression(tokens);
  const rest = tokens.peek();
  if (rest.kind !== 'end') throw unexpected(rest);
  return node;
}

/** `a ? b : c`. The middle part needs parentheses to hold another `? :`. */
function parseExpression(tokens: TokenStream): Node {
  return tokens.nested(() => {
    const condition = parseOr(tokens);
    const question = tokens.peek();
    if (!tokens.accept('?')) return condition;
    const yes = parseOr(tokens);
    tokens.expect(':');
    return operator('_?_:_', question.start, [condition, yes, parseExpression(tokens)]);
  });
}

function parseOr(tokens: TokenStream): Node {
  return parseLogical(tokens, '||', parseAnd);
}

function parseAnd(tokens: TokenStream): Node {
  return parseLogical(tokens, '&&', parseRelation);
}

/** A chain of one logical operator is a single node, so that long chains are not deep. */
function parseLogical(tokens: TokenStream, symbol: string, operand: (tokens: TokenStream) => Node): Node {
  const first = operand(tokens);
  const { start } = tokens.peek();
  const operands = [first];
  while (tokens.accept(symbol)) operands.push(operand(tokens));
  return operands.length === 1 ? first : operator(`_${symbol}_`, start, operands);
}

const RELATIONS = ['==', '!=', '<=', '>=', '<', '>', 'in'];

function parseRelation(tokens: TokenStream): Node {
  return parseBinary(tokens, RELATIONS, parseSum);
}

function parseSum(tokens: TokenStream): Node {
  return parseBinary(tokens, ['+', '-'], parseProduct);
}

function parseProduct(tokens: TokenStream): Node {
  return parseBinary(tokens, ['*', '/', '%'], parseUnary);
}

function parseBinary(
  tokens: TokenStream,
  symbols: readonly string[],
  operand: (tokens: TokenStream) => Node,
): Node {
  let left = operand(tokens);
  for (let depth = 1; ; depth += 1) {
    const { start } = tokens.peek();
    const symbol = tokens.acceptAny(symbols);
    if (symbol === undefined) return left;
    tokens.checkDepth(depth, start);
    left = operator(`_${symbol}_`, start, [left, operand(tokens)]);
  }
}

/** `!a` and `-a`, repeated but not mixed. A minus sign before a number belongs to the number. */
function parseUnary(tokens: TokenStream): Node {
  const { start } = tokens.peek();
  const symbol = tokens.peekAny(['!', '-']);
  if (symbol === undefined || (symbol === '-' && tokens.isNegativeNumber()))
    return parseMember(tokens, parseExpression);
  const count = takeSigns(tokens, symbol);
  tokens.checkDepth(count, start);
  let node = parseMember(tokens, parseExpression);
  for (let left = count; left > 0; left -= 1) node = operator(`${symbol}_`, start, [node]);
  return node;
}

function takeSigns(tokens: TokenStream, symbol: string): number {
  let count = 0;
  while (!tokens.isNegativeNumber() && tokens.accept(symbol)) count += 1;
  return count;
}

function operator(name: string, offset: number, args: readonly Node[]): Call {
  return { kind: 'call', name, target: undefined, args, offset };
}
