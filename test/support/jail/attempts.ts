// Everything that Reeve's accounts try beyond what they are for.
import type { Attempt } from './attempt.ts';
import { contentAttempts, roleAttempts } from './content-attempts.ts';
import { hookAttempts } from './hook-attempts.ts';
import { namespaceAttempts } from './namespace-attempts.ts';
import { ownAttempts } from './own-attempts.ts';

/** On the scene of that namespace. */
export function attempts(team: string): readonly Attempt[] {
  return [
    ...namespaceAttempts(team),
    ...contentAttempts(team),
    ...roleAttempts(team),
    ...ownAttempts(team),
    ...hookAttempts(),
  ];
}
