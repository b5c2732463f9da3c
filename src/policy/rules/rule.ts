// Defines the two shapes of a rule: it judges a state of an object, or the step between two states.
import type { ValidationAction } from '../../api/namespace-policy/namespace-policy.ts';
import type { RuleId } from '../../api/namespace-policy/rule-ids.ts';
import type { MetadataField, KubeObject } from '../../base/metadata.ts';
import type { Budget } from '../terms/budget.ts';
import type { Review } from '../terms/review.ts';
import type { Trace } from '../terms/trace.ts';

/** One place where an object violates one rule. */
export interface RuleViolation {
  readonly path: string;
  readonly found: string;
  readonly accepted: string;
  /** The reason in whole words, which a refusal shows in place of `found` and `accepted`. */
  readonly message?: string;
  /** Equal for the same violation on the old and the new object. Undefined: always new, as an error is. */
  readonly identity: string | undefined;
  /** See `Violation`. */
  readonly isSetByReeve?: true;
  /** Set if exactly one value would be right, so no other rule about the same key has more to say. */
  readonly isExact?: true;
  /** See `JudgedViolation`. */
  readonly dueTo?: readonly string[];
  /** See `JudgedViolation`. */
  readonly isConsequence?: true;
}

export interface RuleContext {
  readonly review: Review;
  readonly now: Date;
  readonly budget: Budget;
  /** The Namespace that the policy matched. In a review of a Namespace: the written Namespace. */
  readonly namespaceObject: KubeObject;
}

/** Judges an object as it stands. With `graced`, a violation of the old object does not block a write. */
export interface StateRule {
  readonly shape: 'state';
  readonly id: RuleId;
  readonly graced: boolean;
  judge(object: KubeObject, context: RuleContext): readonly RuleViolation[];
}

export type OwnsDefault = (field: MetadataField, key: string) => boolean;

export interface StepContext extends RuleContext {
  /** True when the policy matches the namespace after the write. */
  readonly matchesNew: boolean;
  /** True when the policy matched the namespace before the write. */
  readonly matchedOld: boolean;
  readonly actions: readonly ValidationAction[];
  /** Counts the other matched namespaces with this label and value, and stops at `enough`. */
  readonly countOthers: (label: string, value: string, enough: number) => number;
  /** True when the policy is the first by name that sets the default. Only the first demands its value. */
  readonly ownsDefault: OwnsDefault;
  readonly trace: Trace | undefined;
}

/** Judges a write: from `review.oldObject`, if any, to `review.object`, if any. */
interface StepRule {
  readonly shape: 'step';
  readonly id: RuleId;
  judge(context: StepContext): readonly RuleViolation[];
}

export type Rule = StateRule | StepRule;
