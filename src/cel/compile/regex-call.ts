// Compiles matches, find and findAll. A literal pattern is compiled once, with the expression.
import type { Call, Node } from '../syntax/ast.ts';
import { CompileProblem } from '../syntax/problem.ts';
import { compileRegex, type Regex } from '../regex.ts';
import { evaluationError, EvaluationError, NO_OVERLOAD, OVER_BUDGET } from '../values/evaluation-error.ts';
import type { Value } from '../values/value.ts';
import type { Frame, EvaluationStep } from './frame.ts';

const BAD_PATTERN = evaluationError('the computed pattern is not a regular expression in RE2 syntax');
/** A pattern computed by the expression is compiled for each evaluation, so it must be short. */
const MAX_COMPUTED_LENGTH = 256;
const TOO_LONG = evaluationError(`a computed pattern is longer than ${MAX_COMPUTED_LENGTH} characters`);
const COST_OF_COMPILING = 10;

type Use = (regex: Regex, text: string, limit: Value) => Value;

const USES: ReadonlyMap<string, Use> = new Map<string, Use>([
  ['matches', (regex, text) => regex.search(text)],
  ['find', (regex, text) => regex.find(text)],
  ['findAll', (regex, text, limit) => regex.findAll(text, limitOf(limit))],
]);

/** Without a limit, or with a negative one, all matches count. */
function limitOf(limit: Value): number {
  return typeof limit === 'bigint' && limit >= 0n ? Number(limit) : Number.POSITIVE_INFINITY;
}

/** Returns undefined for other calls. The types of the arguments have been checked. */
export function compileRegexCall(node: Call, steps: readonly EvaluationStep[]): EvaluationStep | undefined {
  const use = USES.get(node.name);
  const [text, pattern, limit] = steps;
  if (use === undefined || text === undefined || pattern === undefined) return undefined;
  const regexOf = regexSource(node.target === undefined ? node.args[1] : node.args[0], pattern);
  return (frame) => {
    const [subject, last] = [text(frame), limit?.(frame)];
    const regex = regexOf(frame);
    if (subject instanceof EvaluationError) return subject;
    if (regex instanceof EvaluationError) return regex;
    if (last instanceof EvaluationError) return last;
    if (typeof subject !== 'string' || (last !== undefined && typeof last !== 'bigint')) return NO_OVERLOAD;
    return frame.meter.spend(regex.cost(subject)) ? use(regex, subject, last) : OVER_BUDGET;
  };
}

function regexSource(
  node: Node | undefined,
  pattern: EvaluationStep,
): (frame: Frame) => Regex | EvaluationError {
  if (node?.kind !== 'literal' || typeof node.value !== 'string')
    return (frame) => computedRegex(pattern(frame), frame);
  const compiled = compileRegex(node.value);
  if (!compiled.ok) throw new CompileProblem(compiled.problem, node.offset);
  const { regex } = compiled;
  return () => regex;
}

function computedRegex(pattern: Value, frame: Frame): Regex | EvaluationError {
  if (pattern instanceof EvaluationError) return pattern;
  if (typeof pattern !== 'string') return NO_OVERLOAD;
  if (pattern.length > MAX_COMPUTED_LENGTH) return TOO_LONG;
  if (!frame.meter.spend(COST_OF_COMPILING * (10 + pattern.length))) return OVER_BUDGET;
  const compiled = compileRegex(pattern);
  if (!compiled.ok) return BAD_PATTERN;
  // A short pattern can expand to a long one: x{1000}.
  return frame.meter.spend(COST_OF_COMPILING * compiled.regex.size) ? compiled.regex : OVER_BUDGET;
}
