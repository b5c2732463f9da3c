// What the engine answers: violations, the rights that are still to be asked for, and the verdict they lead to.
import type { ValidationAction } from '../api/namespace-policy.ts';

/** One rule that an object breaks. Nothing in it is ever taken from the payload of a Secret. */
export interface Violation {
  readonly policy: string;
  /** The path of the field that states the rule: `namespaces.required`, `secrets.tls`, `validations/short`. */
  readonly rule: string;
  /** Where in the object. */
  readonly path: string;
  readonly found: string;
  readonly accepted: string;
}

/** A violation of a rule, with what the policy wants done about it. */
export interface Finding {
  readonly violation: Violation;
  readonly actions: readonly ValidationAction[];
}

/** RBAC's verb `use` on one policy or share; whoever changes what it reaches must hold it. */
export interface UseRight {
  readonly resource: 'namespacepolicies' | 'secretshares';
  readonly name: string;
  /** What the write would change, for the message: "take the namespace from it". */
  readonly effect: string;
}

/** The pure part of a decision: what was found, and which rights the requester needs beyond it. */
export interface Decision {
  readonly findings: readonly Finding[];
  readonly rights: readonly UseRight[];
  /** The policies that match the object, by name. */
  readonly policies: readonly string[];
  /** Set when the evaluation budget ran out: the review is refused whatever was found. */
  readonly overBudget: boolean;
}

export const nothingToDecide: Decision = { findings: [], rights: [], policies: [], overBudget: false };

export type AccessAnswer = 'yes' | 'no' | 'unknown';

export interface Verdict {
  readonly allowed: boolean;
  readonly denials: readonly Violation[];
  readonly warnings: readonly Violation[];
  readonly audits: readonly Violation[];
  readonly policies: readonly string[];
  readonly overBudget: boolean;
}
