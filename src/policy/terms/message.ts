// Puts verdicts into words: the refusal that a person reads, warnings, audit annotations and the causes of a Status.
import { clipped } from '../../base/text.ts';
import type { AnyReview } from './review.ts';
import type { Verdict, Violation } from './verdict.ts';

const mostListed = 100;
/** Longer warnings are cut by the API server, and ones beyond 4096 characters in all too. */
const longestWarning = 256;
const mostWarnings = 16;
const longestAudit = 8192;

const kinds = {
  namespaces: 'Namespace',
  secrets: 'Secret',
  roles: 'Role',
  rolebindings: 'RoleBinding',
  namespacepolicies: 'NamespacePolicy',
  secretshares: 'SecretShare',
} as const;

export interface Cause {
  readonly reason: 'FieldValueRequired' | 'FieldValueInvalid' | 'FieldValueForbidden';
  readonly message: string;
  readonly field: string;
}

/** One readable text that names every violation, with the policy, the rule, the place, what was found and what would do. */
export function refusalMessage(verdict: Verdict, review: AnyReview): string {
  const lines = verdict.denials.map(violationLine);
  if (verdict.overBudget) lines.push('the policies took longer to evaluate than one request may take');
  const subject = `${kinds[review.resource]} ${clipped(review.name === '' ? 'without a name' : review.name)}`;
  const [only] = lines;
  if (lines.length === 1 && only !== undefined) return `${subject} is refused: ${only}`;
  const listed = lines.slice(0, mostListed).map((line) => `\n- ${line}`);
  const more = lines.length > mostListed ? `\n- and ${lines.length - mostListed} more` : '';
  return `${subject} is refused for ${lines.length} reasons:${listed.join('')}${more}`;
}

/** Single lines within the limits of the API. https://pkg.go.dev/k8s.io/api/admission/v1#AdmissionResponse */
export function warningLines(verdict: Verdict): readonly string[] {
  const texts = [...verdict.notices, ...verdict.warnings.map(violationLine)];
  const lines = [...new Set(texts.map((text) => clipped(text, longestWarning)))];
  if (lines.length <= mostWarnings) return lines;
  const listed = lines.slice(0, mostWarnings - 1);
  return [...listed, `and ${lines.length - listed.length} more warnings`];
}

export function auditAnnotations(verdict: Verdict): Readonly<Record<string, string>> {
  if (verdict.audits.length === 0) return {};
  return { violations: clipped(verdict.audits.map(violationLine).join(' | '), longestAudit) };
}

export function causesOf(verdict: Verdict): readonly Cause[] {
  return verdict.denials.slice(0, mostListed).map((violation) => ({
    reason: causeReason(violation),
    message: `found ${violation.found}; accepted: ${violation.accepted} (${speaker(violation)}${violation.rule})`,
    field: violation.path,
  }));
}

export function violationLine(violation: Violation): string {
  const { rule, path, found, accepted } = violation;
  // About an object of our own kinds, the path says all that the rule would.
  const source = violation.by === 'reeve' ? '' : `${speaker(violation)}${rule}: `;
  return `${source}${path}: found ${found}; accepted: ${accepted}`;
}

function speaker({ by, policy }: Violation): string {
  return by === 'reeve' ? '' : `${by ?? 'policy'} ${policy}, `;
}

function causeReason({ rule, found }: Violation): Cause['reason'] {
  if (rule === 'steering' || rule === 'authors' || rule === 'fuse') return 'FieldValueForbidden';
  return found === 'nothing' ? 'FieldValueRequired' : 'FieldValueInvalid';
}
