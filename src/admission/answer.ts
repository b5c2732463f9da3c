// Builds the answers to a review as data, and writes an answer as an AdmissionReview.
import { clipped } from '../base/text.ts';
import { providerId } from '../policy/terms/provider-id.ts';
import type { JsonPatchOperation } from '../policy/decide/mutate.ts';
import {
  lackOfTime,
  auditAnnotations,
  causesOf,
  refusalMessage,
  warningLines,
  type Cause,
  type Overrun,
} from '../policy/decide/settle.ts';
import type { AnyReview, Verdict, Violation } from '../policy/terms/review.ts';
import type { ReviewProblem } from './decode/decode-target.ts';
import type { BrokenRule, DecisionKind } from './ports.ts';
import { group } from '../schema/names.ts';
import { reviewApiVersion, reviewKind, type RequestSummary } from './decode/decode-envelope.ts';

/** The part of metav1.Status with the reason for a refusal. */
interface Refusal {
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
  /** The decision of the engine, with the paths of violations. Undefined if the review needed no rule. */
  readonly verdict: Verdict | undefined;
  readonly overBudget: boolean;
  /** Names of the policies that could only report, and that the budget did not reach. */
  readonly unjudged: readonly string[];
}

export const allowed: Answer = {
  decision: 'allowed',
  refusal: undefined,
  patch: [],
  warnings: [],
  auditAnnotations: {},
  policies: [],
  rules: [],
  verdict: undefined,
  overBudget: false,
  unjudged: [],
};

export function mutated(
  patch: readonly JsonPatchOperation[],
  policies: readonly string[],
  notices: readonly string[],
): Answer {
  const decision = patch.length === 0 ? 'allowed' : 'mutated';
  return { ...allowed, decision, patch, policies, warnings: warningLines({ notices, warnings: [] }) };
}

/** `overrun`: the reason why the decision ended early. */
export function judged(verdict: Verdict, review: AnyReview, overrun?: Overrun): Answer {
  return {
    ...allowed,
    decision: verdict.allowed ? 'allowed' : verdict.overBudget ? 'unavailable' : 'denied',
    refusal: verdict.allowed ? undefined : refusalOf(verdict, review, overrun),
    warnings: warningLines(verdict),
    auditAnnotations: auditAnnotations(verdict),
    policies: verdict.policies,
    rules: [
      ...verdict.denials.map((violation) => brokenRule(violation, 'Deny')),
      ...verdict.warnings.map((violation) => brokenRule(violation, 'Warn')),
      ...verdict.audits.map((violation) => brokenRule(violation, 'Audit')),
    ],
    verdict,
    overBudget: verdict.overBudget && overrun?.isLate !== true,
    unjudged: verdict.unjudged,
  };
}

function refusalOf(verdict: Verdict, review: AnyReview, overrun: Overrun | undefined): Refusal {
  const message = refusalMessage(verdict, review, overrun);
  const causes = causesOf(verdict);
  return verdict.overBudget
    ? { code: 504, reason: 'Timeout', message, causes }
    : { code: 403, reason: 'Forbidden', message, causes };
}

/** Names the kind, because a share must not look like a policy with the same name. */
function brokenRule({ policy, by, rule }: Violation, action: BrokenRule['action']): BrokenRule {
  const isSecretShare = by === 'share' && !policy.includes('/');
  return { policy: isSecretShare ? providerId('SecretShare', policy) : policy, rule, action };
}

export function malformed({ code, path, text }: ReviewProblem): Answer {
  const reason = code === 400 ? 'BadRequest' : 'Forbidden';
  const causes: readonly Cause[] = [{ reason: 'FieldValueInvalid', message: text, field: path }];
  return refusing('malformed', { code, reason, message: `${path}: ${text}`, causes });
}

export function unknownNamespace(shownName: string): Answer {
  const message = `namespace ${shownName} is not known`;
  return refusing('unavailable', { code: 503, reason: 'ServiceUnavailable', message, causes: [] });
}

export const outOfTime: Answer = refusing('unavailable', {
  code: 504,
  reason: 'Timeout',
  message: 'the timeout of this request expired before a decision',
  causes: [],
});

/** Blames no policy, because the clock ended the decision, and not its cost. */
export const shortOfTime: Answer = refusing('unavailable', {
  code: 504,
  reason: 'Timeout',
  message: `${lackOfTime}. Try again; if this is frequent, give the webhook more processor time`,
  causes: [],
});

/** `subject`: the policy or share of an earlier review of the same user. */
export function waitedFor(subject: string): Answer {
  const message =
    `the review of ${clipped(subject, 200)}, which the same user wrote before, is not finished yet. ` +
    'Try again later; if this is frequent, make the expressions of that policy or share cheaper, or give the webhook more processor time';
  return refusing('unavailable', { code: 503, reason: 'ServiceUnavailable', message, causes: [] });
}

/** The answer leaves out the text of the error, because that text may quote the request. */
export const failedInside: Answer = refusing('error', {
  code: 500,
  reason: 'InternalError',
  message: 'the policies could not be evaluated; see the log of the webhook',
  causes: [],
});

function refusing(decision: DecisionKind, refusal: Refusal): Answer {
  return { ...allowed, decision, refusal };
}

export function renderReview(summary: RequestSummary, answer: Answer): string {
  const { refusal, patch, warnings } = answer;
  return JSON.stringify({
    apiVersion: reviewApiVersion,
    kind: reviewKind,
    response: {
      uid: summary.uid,
      allowed: refusal === undefined,
      ...(refusal === undefined ? {} : { status: statusOf(refusal, summary) }),
      // The API server treats patch without patchType, or the reverse, as a failed call.
      ...(patch.length === 0 ? {} : { patchType: 'JSONPatch', patch: base64(JSON.stringify(patch)) }),
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(Object.keys(answer.auditAnnotations).length === 0
        ? {}
        : { auditAnnotations: answer.auditAnnotations }),
    },
  });
}

function statusOf({ code, reason, message, causes }: Refusal, summary: RequestSummary): unknown {
  const details = {
    ...(summary.name === '' ? {} : { name: summary.name }),
    ...kindOf(summary),
    ...(causes.length === 0 ? {} : { causes }),
  };
  return { metadata: {}, status: 'Failure', message, reason, code, details };
}

/** In the details, `kind` is the resource, as in answers of the API server itself. */
function kindOf({ resource }: RequestSummary): { readonly group?: string; readonly kind?: string } {
  const [kind = ''] = resource.split('/');
  switch (kind) {
    case 'other':
      return {};
    case 'roles':
    case 'rolebindings':
      return { group: 'rbac.authorization.k8s.io', kind };
    case 'namespacepolicies':
    case 'secretshares':
    case 'configmapshares':
    case 'securityintents':
    case 'clustersecurityintentbindings':
    case 'securityintentbindings':
    case 'namespaceclaims':
      return { group, kind };
    default:
      return { kind };
  }
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
