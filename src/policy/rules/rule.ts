// The two shapes of a rule: one that judges a state of an object, and one that judges the step between two states.
import type { ValidationAction } from '../../api/namespace-policy/namespace-policy.ts';
import type { MetadataField } from '../../base/metadata.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Review } from '../terms/review.ts';

/** One way in which an object breaks one rule. */
export interface Breach {
  readonly path: string;
  readonly found: string;
  readonly accepted: string;
  /** What makes two breaches of a rule the same one; undefined: never the same (an error is not a violation). */
  readonly identity: string | undefined;
}

export interface RuleContext {
  readonly review: Review;
  readonly now: Date;
  /** The Namespace by which the policy matched: for a review of a Namespace, the one that is written. */
  readonly namespaceObject: KubeObject;
}

/** Judges an object as it stands. What the old object already broke does not block a write, if `graced`. */
export interface StateRule {
  readonly shape: 'state';
  readonly id: string;
  readonly graced: boolean;
  judge(object: KubeObject, context: RuleContext): readonly Breach[];
}

export type OwnsDefault = (field: MetadataField, key: string) => boolean;

export interface StepContext extends RuleContext {
  /** Whether the policy matches the namespace after, and matched it before, the write. */
  readonly matchesNew: boolean;
  readonly matchedOld: boolean;
  readonly actions: readonly ValidationAction[];
  /** How many other namespaces that the policy matches carry the label with the value; it stops counting at a number. */
  readonly countOthers: (label: string, value: string, enough: number) => number;
  /** The first policy by name that sets a default owns its value. */
  readonly ownsDefault: OwnsDefault;
}

/** Judges a write: from `review.oldObject`, if any, to `review.object`, if any. */
export interface StepRule {
  readonly shape: 'step';
  readonly id: string;
  judge(context: StepContext): readonly Breach[];
}

export type Rule = StateRule | StepRule;
