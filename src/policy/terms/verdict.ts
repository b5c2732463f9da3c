// What the engine answers: violations, the rights that are still to be asked for, and the verdict they lead to.
import type { ValidationAction } from '../../api/namespace-policy/namespace-policy.ts';

/** One rule that an object breaks. Nothing in it is ever taken from the payload of a Secret. */
export interface Violation {
  /** The name of the policy or share whose rule or guard it is; empty where Reeve speaks for itself. */
  readonly policy: string;
  /** Left out for a policy. `reeve`: a guard on objects of our own kinds. */
  readonly by?: 'share' | 'reeve';
  /** The path of the field that states the rule: `namespaces.required`, `secrets.tls`, `validations/short`. */
  readonly rule: string;
  /** Where in the object. */
  readonly path: string;
  readonly found: string;
  readonly accepted: string;
  /** The reason in whole words, which a refusal shows in place of `found` and `accepted`. */
  readonly message?: string;
  /** The `spec.contact` of the policy or share. */
  readonly contact?: string;
}

/** A violation of a rule, with what the policy wants done about it. */
export interface JudgedViolation {
  readonly violation: Violation;
  readonly actions: readonly ValidationAction[];
}

/** A right of RBAC that the requester must hold, cluster-wide where no namespace is given. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Left out: the right to all of them. */
  readonly name?: string;
  readonly namespace?: string;
  /** What in the write needs the right, as the subject of a sentence: "label team=a". Left out: the write as a whole. */
  readonly cause?: string;
  /** What the write would do, in the words of a message: "hand out ClusterRole edit". */
  readonly effect: string;
  /** The guard that asks for it. */
  readonly rule: 'steering' | 'authors';
  /** Where in the object. */
  readonly path: string;
  /** The `spec.contact` of the policy or share that requires it. Left out: a cluster administrator. */
  readonly contact?: string;
}

/** The same for two rights that are one question, whatever they are needed for. */
export type RightKey = string;

export function rightKey({ verb, group, resource, name, namespace }: Right): RightKey {
  return JSON.stringify([verb, group, resource, name, namespace]);
}

/** The pure part of a decision: what was found, and which rights the requester needs beyond it. */
export interface Decision {
  readonly violations: readonly JudgedViolation[];
  readonly rights: readonly Right[];
  /** What the requester is told, allowed or not: what the write would do elsewhere. */
  readonly notices: readonly string[];
  /** The policies that match the object, by name. */
  readonly policies: readonly string[];
  /** Set when the evaluation budget ran out: the review is refused whatever was found. */
  readonly overBudget: boolean;
}

export const nothingToDecide: Decision = {
  violations: [],
  rights: [],
  notices: [],
  policies: [],
  overBudget: false,
};

export type AccessAnswer = 'yes' | 'no' | 'unknown';

export interface Verdict {
  readonly allowed: boolean;
  readonly denials: readonly Violation[];
  readonly warnings: readonly Violation[];
  readonly audits: readonly Violation[];
  readonly notices: readonly string[];
  readonly policies: readonly string[];
  readonly overBudget: boolean;
}
