// Exceptions: namespaces to which some rules of a policy do not apply, optionally until a time.
import type { PolicyException } from '../../api/namespace-policy/namespace-policy.ts';
import type { RuleId } from '../../rules/rules.ts';
import { compileGlob, type Glob } from '../../cel/patterns.ts';

export interface CompiledException {
  readonly namespaces: readonly Glob[];
  readonly rules: ReadonlySet<string>;
  /** Milliseconds since the epoch. Undefined: the exception does not expire. */
  readonly expiresAt: number | undefined;
}

export function compileException(exception: PolicyException): CompiledException {
  const { namespaces, rules, expiresAt } = exception;
  return {
    namespaces: namespaces.map(compileGlob),
    rules: new Set(rules),
    expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
  };
}

export function isExcepted(
  exceptions: readonly CompiledException[],
  rule: RuleId,
  namespace: string,
  now: Date,
): boolean {
  return exceptions.some(
    ({ namespaces, rules, expiresAt }) =>
      rules.has(rule) &&
      (expiresAt === undefined || now.getTime() < expiresAt) &&
      namespaces.some((glob) => glob.matches(namespace)),
  );
}

/** Returns when the next exception ends, in milliseconds since the epoch. With `namespace`: the next one that covers it. */
export function nextExceptionEnd(
  exceptions: readonly CompiledException[],
  now: Date,
  namespace?: string,
): number | undefined {
  let next: number | undefined;
  for (const { namespaces, expiresAt = 0 } of exceptions) {
    if (expiresAt <= now.getTime()) continue;
    if (namespace === undefined || namespaces.some((glob) => glob.matches(namespace)))
      next = Math.min(next ?? expiresAt, expiresAt);
  }
  return next;
}
