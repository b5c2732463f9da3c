// Parses the operands of operators: literals, names, calls, lists, maps, fields and elements.
import {
  type Call,
  type Identifier,
  type Literal,
  type Node,
  CompileError,
  unexpected,
  type LoopForm,
} from './ast.ts';
import type { TokenStream } from './lexer.ts';
import { BOOL, BYTES, DOUBLE, INT, NULL, STRING, UINT, type Type } from '../types/type.ts';
import { Double, MAX_INT, type Value } from '../values/value.ts';

/** Words that CEL reserves: https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax */
const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const KEYWORDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);

/** Parses a whole expression, which brackets may hold. */
type ExpressionParser = (tokens: TokenStream) => Node;

/** A primary expression followed by any number of `.field`, `.method()` and `[key]`. */
export function parseMember(tokens: TokenStream, expression: ExpressionParser): Node {
  let node = parsePrimary(tokens, expression);
  for (let depth = 1; ; depth += 1) {
    const { start } = tokens.peek();
    tokens.checkDepth(depth, start);
    if (tokens.accept('.')) node = parseDot(tokens, expression, node, start);
    else if (tokens.accept('[')) node = parseIndex(tokens, expression, node, start);
    else return node;
  }
}

function parseDot(tokens: TokenStream, expression: ExpressionParser, operand: Node, offset: number): Node {
  const isOptional = tokens.accept('?');
  const field = takeName(tokens);
  if (isOptional) return { kind: 'select', operand, field, mode: 'optional', offset };
  if (!tokens.accept('(')) return { kind: 'select', operand, field, mode: 'plain', offset };
  const call: Call = {
    kind: 'call',
    name: field,
    target: operand,
    args: parseArguments(tokens, expression),
    offset,
  };
  return expandMacro(call);
}

function parseIndex(tokens: TokenStream, expression: ExpressionParser, operand: Node, offset: number): Node {
  const isOptional = tokens.accept('?');
  const key = expression(tokens);
  tokens.expect(']');
  return { kind: 'index', operand, key, isOptional, offset };
}

function takeName(tokens: TokenStream): string {
  const token = tokens.take();
  if (token.kind !== 'identifier' || KEYWORDS.has(token.text)) throw unexpected(token);
  return token.text;
}

function parsePrimary(tokens: TokenStream, expression: ExpressionParser): Node {
  const token = tokens.peek();
  switch (token.kind) {
    case 'int':
    case 'uint':
    case 'double':
      return parseNumber(tokens, false);
    case 'string':
    case 'bytes':
      tokens.take();
      return literal(token.kind === 'string' ? STRING : BYTES, token.value, token.start);
    case 'identifier':
      return parseName(tokens, expression);
    case 'symbol':
      return parseBracketed(tokens, expression);
    default:
      throw unexpected(token);
  }
}

function literal(type: Type, value: Value, offset: number): Literal {
  return { kind: 'literal', type, value, offset };
}

function parseNumber(tokens: TokenStream, isNegative: boolean): Node {
  const token = tokens.take();
  switch (token.kind) {
    case 'uint':
      return literal(UINT, token.value, token.start);
    case 'double':
      return literal(DOUBLE, isNegative ? negateDouble(token.value) : token.value, token.start);
    case 'int':
      return literal(INT, signedInteger(token.value, isNegative, token.start), token.start);
    default:
      throw unexpected(token);
  }
}

function negateDouble(value: Value): Value {
  return value instanceof Double ? new Double(-value.value) : value;
}

function signedInteger(value: Value, isNegative: boolean, offset: number): Value {
  if (typeof value !== 'bigint') return value;
  if (isNegative) return -value;
  if (value > MAX_INT) throw new CompileError('the number is too large', offset);
  return value;
}

function parseName(tokens: TokenStream, expression: ExpressionParser): Node {
  const token = tokens.take();
  const { text, start } = token;
  if (text === 'true' || text === 'false') return literal(BOOL, text === 'true', start);
  if (text === 'null') return literal(NULL, null, start);
  if (text === 'in' || RESERVED.has(text)) throw new CompileError(`${text} is a reserved word`, start);
  if (!tokens.accept('(')) return { kind: 'identifier', name: text, offset: start } satisfies Identifier;
  return expandMacro({
    kind: 'call',
    name: text,
    target: undefined,
    args: parseArguments(tokens, expression),
    offset: start,
  });
}

function parseBracketed(tokens: TokenStream, expression: ExpressionParser): Node {
  const token = tokens.take();
  switch (token.text) {
    case '(': {
      const node = expression(tokens);
      tokens.expect(')');
      return node;
    }
    case '[':
      return { kind: 'list', elements: parseElements(tokens, expression), offset: token.start };
    case '{':
      return { kind: 'map', entries: parseEntries(tokens, expression), offset: token.start };
    case '-':
      return parseNumber(tokens, true);
    default:
      throw unexpected(token);
  }
}

/** Parses expressions separated by commas, up to the closing parenthesis. */
function parseArguments(tokens: TokenStream, expression: ExpressionParser): readonly Node[] {
  const nodes: Node[] = [];
  if (tokens.accept(')')) return nodes;
  do nodes.push(expression(tokens));
  while (tokens.accept(','));
  tokens.expect(')');
  return nodes;
}

/** `[,]` and `{,}` are empty too. */
function isOnlyComma(tokens: TokenStream, closing: string): boolean {
  if (!tokens.accept(',')) return false;
  tokens.expect(closing);
  return true;
}

function parseElements(
  tokens: TokenStream,
  expression: ExpressionParser,
): readonly { value: Node; isOptional: boolean }[] {
  const elements: { value: Node; isOptional: boolean }[] = [];
  if (isOnlyComma(tokens, ']')) return elements;
  while (!tokens.accept(']')) {
    const isOptional = tokens.accept('?');
    elements.push({ value: expression(tokens), isOptional });
    if (!tokens.accept(',')) {
      tokens.expect(']');
      break;
    }
  }
  return elements;
}

function parseEntries(
  tokens: TokenStream,
  expression: ExpressionParser,
): readonly { key: Node; value: Node; isOptional: boolean }[] {
  const entries: { key: Node; value: Node; isOptional: boolean }[] = [];
  if (isOnlyComma(tokens, '}')) return entries;
  while (!tokens.accept('}')) {
    const isOptional = tokens.accept('?');
    const key = expression(tokens);
    tokens.expect(':');
    entries.push({ key, value: expression(tokens), isOptional });
    if (!tokens.accept(',')) {
      tokens.expect('}');
      break;
    }
  }
  return entries;
}

// Recognizes calls that are macros, and checks the arguments that name their variables.

/** A macro over a list or map: its number of variables, and whether it has a condition. */
interface LoopShape {
  readonly form: LoopForm;
  readonly name: string;
  readonly variables: 1 | 2;
  readonly hasCondition: boolean;
}

const LOOPS: readonly LoopShape[] = [
  { name: 'all', form: 'all', variables: 1, hasCondition: false },
  { name: 'exists', form: 'exists', variables: 1, hasCondition: false },
  { name: 'exists_one', form: 'exists_one', variables: 1, hasCondition: false },
  { name: 'filter', form: 'filter', variables: 1, hasCondition: false },
  { name: 'map', form: 'map', variables: 1, hasCondition: false },
  { name: 'map', form: 'map', variables: 1, hasCondition: true },
  { name: 'sortBy', form: 'sortBy', variables: 1, hasCondition: false },
  { name: 'all', form: 'all', variables: 2, hasCondition: false },
  { name: 'exists', form: 'exists', variables: 2, hasCondition: false },
  { name: 'existsOne', form: 'exists_one', variables: 2, hasCondition: false },
  { name: 'exists_one', form: 'exists_one', variables: 2, hasCondition: false },
  { name: 'transformList', form: 'transformList', variables: 2, hasCondition: false },
  { name: 'transformList', form: 'transformList', variables: 2, hasCondition: true },
  { name: 'transformMap', form: 'transformMap', variables: 2, hasCondition: false },
  { name: 'transformMap', form: 'transformMap', variables: 2, hasCondition: true },
  { name: 'transformMapEntry', form: 'transformMapEntry', variables: 2, hasCondition: false },
  { name: 'transformMapEntry', form: 'transformMapEntry', variables: 2, hasCondition: true },
];

function expandMacro(call: Call): Node {
  if (call.target === undefined)
    return call.name === 'has' && call.args.length === 1 ? expandHas(call) : call;
  const isOptionalMap = call.name === 'optMap' || call.name === 'optFlatMap';
  if (isOptionalMap && call.args.length === 2) return expandOptionalMap(call, call.target);
  const shape = LOOPS.find(
    ({ name, variables, hasCondition }) =>
      name === call.name && call.args.length === variables + 1 + Number(hasCondition),
  );
  return shape === undefined ? call : expandLoop(call, call.target, shape);
}

function expandHas(call: Call): Node {
  const [argument] = call.args;
  if (argument?.kind !== 'select' || argument.mode === 'test') {
    throw new CompileError('has() takes a field: has(a.b)', call.offset);
  }
  if (argument.mode === 'optional')
    throw new CompileError('has() takes a plain field: has(a.b)', call.offset);
  return { ...argument, mode: 'test' };
}

function expandOptionalMap(call: Call, operand: Node): Node {
  const [variable, body] = call.args;
  if (variable === undefined || body === undefined) return call;
  const isFlat = call.name === 'optFlatMap';
  return {
    kind: 'optional-map',
    isFlat,
    operand,
    variable: variableName(variable),
    body,
    offset: call.offset,
  };
}

function expandLoop(call: Call, range: Node, shape: LoopShape): Node {
  const variables = call.args.slice(0, shape.variables).map(variableName);
  if (new Set(variables).size !== variables.length) {
    throw new CompileError('the two variables have the same name', call.offset);
  }
  const rest = call.args.slice(shape.variables);
  const body = rest.at(-1);
  if (body === undefined) return call;
  const condition = shape.hasCondition ? rest[0] : undefined;
  return { kind: 'loop', form: shape.form, range, variables, condition, body, offset: call.offset };
}

function variableName(node: Node): string {
  if (node.kind === 'identifier' && node.name !== '__result__') return node.name;
  throw new CompileError('the first argument of a macro is the name of its variable', node.offset);
}
