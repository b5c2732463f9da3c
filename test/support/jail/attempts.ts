// Lists all forbidden requests of Reeve's accounts.
import type { Attempt } from './attempt.ts';
import { contentAttempts, roleAttempts } from './content-attempts.ts';
import { hookAttempts } from './hook-attempts.ts';
import { namespaceAttempts } from './namespace-attempts.ts';
import { ownAttempts } from './own-attempts.ts';

/** Returns the attempts on the scene of that namespace. */
export function attempts(team: string): readonly Attempt[] {
  return [
    ...namespaceAttempts(team),
    ...contentAttempts(team),
    ...roleAttempts(team),
    ...ownAttempts(team),
    ...hookAttempts(),
  ];
}
