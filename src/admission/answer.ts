// What a review is answered, as data: the outcome of every path through admission.
import { providerId } from '../policy/terms/provider-id.ts';
import type { JsonPatchOperation } from '../policy/terms/patch.ts';
import { auditAnnotations, causesOf, refusalMessage, warningLines } from '../policy/terms/message.ts';
import type { Cause } from '../policy/terms/message.ts';
import type { AnyReview } from '../policy/terms/review.ts';
import type { Verdict, Violation } from '../policy/terms/verdict.ts';
import type { Fault } from './decode/fault.ts';
import type { BrokenRule, DecisionKind } from './ports.ts';

/** The part of metav1.Status that says why not. */
export interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly Cause[];
}

export interface Answer {
  readonly decision: DecisionKind;
  /** Undefined when the request is allowed. */
  readonly refusal: Refusal | undefined;
  readonly patch: readonly JsonPatchOperation[];
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly policies: readonly string[];
  readonly rules: readonly BrokenRule[];
  readonly overBudget: boolean;
}

export const allowed: Answer = {
  decision: 'allowed',
  refusal: undefined,
  patch: [],
  warnings: [],
  auditAnnotations: {},
  policies: [],
  rules: [],
  overBudget: false,
};

export function mutated(patch: readonly JsonPatchOperation[], policies: readonly string[]): Answer {
  return { ...allowed, decision: patch.length === 0 ? 'allowed' : 'mutated', patch, policies };
}

export function judged(verdict: Verdict, review: AnyReview): Answer {
  return {
    ...allowed,
    decision: verdict.allowed ? 'allowed' : verdict.overBudget ? 'unavailable' : 'denied',
    refusal: verdict.allowed ? undefined : refusalOf(verdict, review),
    warnings: warningLines(verdict),
    auditAnnotations: auditAnnotations(verdict),
    policies: verdict.policies,
    rules: [
      ...verdict.denials.map((violation) => brokenRule(violation, 'Deny')),
      ...verdict.warnings.map((violation) => brokenRule(violation, 'Warn')),
      ...verdict.audits.map((violation) => brokenRule(violation, 'Audit')),
    ],
    overBudget: verdict.overBudget,
  };
}

function refusalOf(verdict: Verdict, review: AnyReview): Refusal {
  const message = refusalMessage(verdict, review);
  const causes = causesOf(verdict);
  return verdict.overBudget
    ? { code: 504, reason: 'Timeout', message, causes }
    : { code: 403, reason: 'Forbidden', message, causes };
}

/** A share must not pass for a policy of its name. */
function brokenRule({ policy, by, rule }: Violation, action: BrokenRule['action']): BrokenRule {
  return { policy: by === 'share' ? providerId('SecretShare', policy) : policy, rule, action };
}

export function malformed({ code, path, problem }: Fault): Answer {
  const reason = code === 400 ? 'BadRequest' : 'Forbidden';
  const causes: readonly Cause[] = [{ reason: 'FieldValueInvalid', message: problem, field: path }];
  return refusing('malformed', { code, reason, message: `${path}: ${problem}`, causes });
}

export function unknownNamespace(shownName: string): Answer {
  const message = `namespace ${shownName} is not known`;
  return refusing('unavailable', { code: 503, reason: 'ServiceUnavailable', message, causes: [] });
}

export const outOfTime: Answer = refusing('unavailable', {
  code: 504,
  reason: 'Timeout',
  message: 'the time for this request ran out before it was decided',
  causes: [],
});

/** Whatever the error was, its text stays here: it may quote what somebody sent. */
export const failedInside: Answer = refusing('error', {
  code: 500,
  reason: 'InternalError',
  message: 'the policies could not be evaluated; the log of the webhook says more',
  causes: [],
});

function refusing(decision: DecisionKind, refusal: Refusal): Answer {
  return { ...allowed, decision, refusal };
}
