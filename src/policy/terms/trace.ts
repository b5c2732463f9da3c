// What each rule says of a write, for commands that explain a request or count which rules a test reached.
import type { ValidationAction } from '../../api/namespace-policy/namespace-policy.ts';
import type { RuleId } from '../../rules/rules.ts';
import type { Violation } from './verdict.ts';

/** A violation before the policy and the rule are added. */
export type TracedViolation = Pick<Violation, 'path' | 'found' | 'accepted' | 'message'>;

export interface RuleOutcome {
  readonly policy: string;
  readonly rule: RuleId;
  /** `unasked`: the rule judges what an object is, and the write leaves none that the policy matches. */
  readonly kind: 'judged' | 'excepted' | 'unasked';
  /** Violations that count with all of these actions. A refusal may leave some out, where another one says the same. */
  readonly fresh: readonly TracedViolation[];
  /** Violations that the old object had as well: they are reported and block no write. */
  readonly old: readonly TracedViolation[];
  readonly actions: readonly ValidationAction[];
}

/** Is called for each rule of a policy that matches. The webhook has none. */
export type Trace = (outcome: RuleOutcome) => void;
