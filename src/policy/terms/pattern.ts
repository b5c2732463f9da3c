// Compiles a regular expression of a policy, saying where one stands that does not compile.
import { compiled, refused, type Compilation } from './compilation.ts';
import { compileRegex, type Regex } from '../../cel/regex.ts';

export function compilePattern(source: string, path: readonly (string | number)[]): Compilation<Regex> {
  const result = compileRegex(source);
  if (result.ok) return compiled(result.regex);
  return refused([{ path, found: result.problem, accepted: 'a regular expression in RE2 syntax' }]);
}
