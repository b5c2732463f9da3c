// Words a verdict: the refusal that a person reads, warnings, audit annotations and the causes of a Status.
import { clipped, unitsText } from '../../base/text.ts';
import { shownName } from './provider-id.ts';
import type { AnyReview } from './review.ts';
import type { Verdict, Violation } from './verdict.ts';

const maxReasons = 3;
const maxContacts = 3;
const maxContactLength = 200;
const maxCauses = 100;
/** The API server cuts longer warnings, and all beyond 4096 characters. */
const maxWarningLength = 256;
/** Other webhooks share the 4096 characters. */
const maxWarnings = 11;
const maxAuditLength = 8192;

const kinds = {
  namespaces: 'Namespace',
  secrets: 'Secret',
  roles: 'Role',
  rolebindings: 'RoleBinding',
  namespacepolicies: 'NamespacePolicy',
  secretshares: 'SecretShare',
  securityintents: 'SecurityIntent',
  clustersecurityintentbindings: 'ClusterSecurityIntentBinding',
  securityintentbindings: 'SecurityIntentBinding',
} as const;

export interface Cause {
  readonly reason: 'FieldValueRequired' | 'FieldValueInvalid' | 'FieldValueForbidden';
  readonly message: string;
  readonly field: string;
}

/** Returns what was refused, the first reasons, and the contacts of their authors. `causesOf` returns all reasons. */
export function refusalMessage(verdict: Verdict, review: AnyReview, overrun?: Overrun): string {
  const reasons = [
    ...(verdict.overBudget ? [overrunText(overrun)] : []),
    ...distinctFaults(verdict.denials).map(violationLine),
  ];
  const name = review.name === '' ? 'without a name' : review.name;
  const subject = `${kinds[review.resource]} ${clipped(name)} is refused`;
  const isOurs =
    !verdict.overBudget &&
    verdict.denials.length > 0 &&
    verdict.denials.every(({ isSetByReeve }) => isSetByReeve === true);
  const again = isOurs
    ? ['Reeve sets missing defaults itself, but the API server got no answer from it in time: send it again']
    : [];
  const contact = contactLine(verdict.denials);
  const rest = [...again, ...(contact === undefined ? [] : [contact])];
  return [`${subject}${reasonsText(reasons)}`, ...rest].join('\n');
}

/** Says why a decision ended before all policies or namespaces were evaluated. */
export interface Overrun {
  /** True if the answer was due before the work reached its limit. */
  readonly isLate: boolean;
  /** The limit of the request. */
  readonly units?: number;
  /** The policies that used most of it. */
  readonly dearest?: readonly { readonly policy: string; readonly units: number }[];
}

export const lackOfTime =
  'the webhook is short of processor time, so the timeout of this request expired before a decision';

/** Any author can have written the expensive policies, so a refusal names them. */
function overrunText({ isLate, units, dearest = [] }: Overrun = { isLate: false }): string {
  if (isLate) return `${lackOfTime}; try again`;
  const limit = units === undefined ? 'one request may cost' : `the ${unitsText(units)} of one request`;
  const text = `evaluating the policies costs more than ${limit}`;
  const names = dearest.map(({ policy, units: own }) => `${clipped(policy)} (${unitsText(own)})`);
  const policies = names.length === 1 ? 'policy' : 'policies';
  return names.length === 0
    ? text
    : `${text}, most of it for ${policies} ${names.join(', ')}: ask for cheaper expressions there`;
}

/** Two policies that say the same of one field give one reason. `causesOf` names both. */
function distinctFaults(violations: readonly Violation[]): readonly Violation[] {
  const byFault = new Map<string, Violation>();
  for (const violation of violations) {
    const { path, found, accepted, message } = violation;
    const fault = JSON.stringify([path, found, accepted, message]);
    if (!byFault.has(fault)) byFault.set(fault, violation);
  }
  return [...byFault.values()];
}

function reasonsText(reasons: readonly string[]): string {
  const [only] = reasons;
  if (reasons.length === 1 && only !== undefined) return `: ${only}`;
  const more = reasons.length - maxReasons;
  const lines = [...reasons.slice(0, maxReasons), ...(more > 0 ? [`and ${more} more`] : [])];
  return ` for ${reasons.length} reasons:${lines.map((line) => `\n- ${line}`).join('')}`;
}

/** Returns `Contact: …` with the contacts of the policies and shares, each once; undefined when none has a contact. */
export function contactLine(violations: readonly Pick<Violation, 'contact'>[]): string | undefined {
  const contacts = violations.flatMap(({ contact }) => (contact === undefined ? [] : [contact]));
  const distinct = [...new Set(contacts.map((contact) => clipped(contact, maxContactLength)))];
  return distinct.length === 0 ? undefined : `Contact: ${distinct.slice(0, maxContacts).join(', ')}`;
}

/** Single lines within the limits of the API. https://pkg.go.dev/k8s.io/api/admission/v1#AdmissionResponse */
export function warningLines({
  notices,
  warnings,
}: Pick<Verdict, 'notices' | 'warnings'>): readonly string[] {
  const texts = [...notices, ...warnings.map(violationLine)];
  const lines = [...new Set(texts.map((text) => clipped(text, maxWarningLength)))];
  if (lines.length <= maxWarnings) return lines;
  const listed = lines.slice(0, maxWarnings - 1);
  return [...listed, `and ${lines.length - listed.length} more warnings`];
}

export function auditAnnotations(verdict: Verdict): Readonly<Record<string, string>> {
  if (verdict.audits.length === 0) return {};
  return { violations: clipped(verdict.audits.map(violationLine).join(' | '), maxAuditLength) };
}

export function causesOf(verdict: Verdict): readonly Cause[] {
  return verdict.denials.slice(0, maxCauses).map((violation) => ({
    reason: causeReason(violation),
    message: `found ${violation.found}; accepted: ${violation.accepted} (${speaker(violation)}${violation.rule})`,
    field: violation.path,
  }));
}

export function violationLine(violation: Violation): string {
  const { by, rule, path, found, accepted, message } = violation;
  // For an object of our own kinds the path already names the rule, and a message on steering names the provider.
  const source =
    by === 'reeve' || (rule === 'steering' && message !== undefined) ? '' : `${speaker(violation)}${rule}: `;
  return `${source}${message ?? `${path}: found ${found}; accepted: ${accepted}`}`;
}

function speaker({ by, policy }: Violation): string {
  return by === 'reeve' ? '' : `${shownName(policy, by)}, `;
}

/** These forbid a write, whatever the value of the field. */
const guards: ReadonlySet<string> = new Set(['steering', 'authors', 'fuse', 'finalizer', 'cascade']);

function causeReason({ rule, found }: Violation): Cause['reason'] {
  if (guards.has(rule)) return 'FieldValueForbidden';
  return found === 'nothing' ? 'FieldValueRequired' : 'FieldValueInvalid';
}
