// Turns a decision into a verdict, once the API server has answered which rights the user has.
import { requesters } from '../../rules/requesters.ts';
import type { Requester } from '../../rules/rule.ts';
import { kindDefinitions } from '../../api/kinds.ts';
import { group } from '../../schema/names.ts';
import { quoted, clipped, unitsText } from '../../base/text.ts';
import {
  isProviderReview,
  type AnyReview,
  causesFirst,
  rightKey,
  violationText,
  type AccessAnswer,
  type Decision,
  type JudgedViolation,
  type Right,
  type RightKey,
  type Verdict,
  type Violation,
} from '../terms/review.ts';
import { shownName } from '../terms/provider-id.ts';

export function settle(
  decision: Decision,
  answers: ReadonlyMap<RightKey, AccessAnswer>,
  review: AnyReview,
): Verdict {
  const given = (right: Right): AccessAnswer => answers.get(rightKey(right)) ?? 'unknown';
  const ordered = causesFirst(
    decision.violations.flatMap((each) => unlessPermitted(each, given, review.requester)),
  );
  const having = (action: 'Deny' | 'Warn' | 'Audit'): readonly Violation[] =>
    ordered.filter(({ actions }) => actions.includes(action)).map(({ violation }) => violation);
  const answerTo = (right: Right): AccessAnswer =>
    right.instead !== undefined && given(right.instead) === 'yes' ? 'yes' : given(right);
  const denied = having('Deny');
  const deniedPaths = new Set(denied.map(({ path }) => path));
  // A missing right is a denial, whatever the validationActions of the policy are.
  const missing = decision.rights.filter(
    (right) =>
      answerTo(right) !== 'yes' &&
      !isOnlyForRequesters(right, decision) &&
      !isDeniedAnyway(right, deniedPaths),
  );
  const guarded = [...Map.groupBy(missing, purposeKey).values()].flatMap((rights) =>
    missingRightsViolation(rights, rights.map(answerTo).includes('unknown'), review),
  );
  const denials = [...denied, ...guarded];
  const allowed = denials.length === 0 && !decision.overBudget;
  return {
    allowed,
    denials,
    warnings: having('Warn'),
    audits: having('Audit'),
    // A refused write of a Namespace changes nothing. The author of a refused policy still needs its numbers.
    notices: allowed || isProviderReview(review) ? decision.notices : [],
    policies: decision.policies,
    overBudget: decision.overBudget,
    unjudged: decision.unjudged,
  };
}

/** Drops a violation if the user has the right that permits it. Otherwise names that right as what is missing. */
function unlessPermitted(
  judgedViolation: JudgedViolation,
  given: (right: Right) => AccessAnswer,
  { username }: Requester,
): readonly JudgedViolation[] {
  const { permittedBy, violation } = judgedViolation;
  if (permittedBy === undefined) return [judgedViolation];
  const answer = given(permittedBy);
  if (answer === 'yes') return [];
  const { contact = 'a cluster administrator' } = permittedBy;
  const texts = missingTexts(permittedBy, [permittedBy.verb], username, answer === 'unknown');
  return [{ ...judgedViolation, violation: { ...violation, ...texts, contact } }];
}

/** Returns true if only requesters may create. Their violation is enough, because the right to use the policy would not help. */
function isOnlyForRequesters(right: Right, { violations }: Decision): boolean {
  return (
    right.rule === 'steering' &&
    isPolicy(right) &&
    violations.some(
      ({ violation, actions }) =>
        violation.policy === right.name && violation.rule === requesters.id && actions.includes('Deny'),
    )
  );
}

/** Returns true if the write must drop these fields anyway. The missing right would be a second reason for one mistake. */
function isDeniedAnyway({ causedBy = [] }: Right, deniedPaths: ReadonlySet<string>): boolean {
  return causedBy.length > 0 && causedBy.every((path) => deniedPaths.has(path));
}

/** Returns the same key for rights that one violation can name, because they differ only in the verb. */
function purposeKey({ rule, path, effect, group: apiGroup, resource, name, namespace }: Right): string {
  return JSON.stringify([rule, path, effect, apiGroup, resource, name, namespace]);
}

/** `rights` differ only in the verb. `isDoubtful`: the API server gave no answer for one of them. */
function missingRightsViolation(
  rights: readonly Right[],
  isDoubtful: boolean,
  { requester: { username } }: AnyReview,
): readonly Violation[] {
  const [right] = rights;
  if (right === undefined) return [];
  const { rule, path, contact = 'a cluster administrator' } = right;
  const verbs = rights.map(({ verb }) => verb);
  return [
    {
      ...(rule === 'steering' ? providerOf(right) : { policy: '', by: 'reeve' }),
      rule,
      path,
      ...missingTexts(right, verbs, username, isDoubtful),
      contact,
    },
  ];
}

function missingTexts(
  right: Right,
  verbs: readonly string[],
  username: string,
  isDoubtful: boolean,
): Required<Pick<Violation, 'found' | 'accepted' | 'message'>> {
  const { instead } = right;
  const other = instead === undefined ? '' : `, or ${rightText(instead, [instead.verb])}`;
  const missing = `${rightText(right, verbs)}${other}`;
  const user = `user ${quoted(username)}`;
  return {
    found: `${user} without ${missing}${isDoubtful ? ' (the API server gave no answer)' : ''}`,
    accepted: `a user with ${missing}`,
    message: refusalText(right, user, missing, isDoubtful),
  };
}

function providerOf(right: Right): Pick<Violation, 'policy' | 'by'> {
  const policy = right.name ?? '';
  if (isPolicy(right)) return { policy };
  if (right.group === group && right.resource === 'secretshares') return { policy, by: 'share' };
  // A share of another kind has its id as the name, as a binding has.
  const isShare = right.group === group && right.resource === 'configmapshares';
  return isShare ? { policy: `ConfigMapShare/${policy}`, by: 'share' } : { policy, by: 'reeve' };
}

function refusalText(
  { rule, path, cause = 'this write', effect }: Right,
  user: string,
  missing: string,
  isDoubtful: boolean,
): string {
  if (isDoubtful) {
    const reason = `the API server did not answer whether ${user} has the right (${missing})`;
    return rule === 'authors'
      ? `${path}: this write would ${effect}, and ${reason}`
      : `${cause} would ${effect}, and ${reason}`;
  }
  if (rule === 'rule') return `${user} may not ${effect} (${missing})`;
  return rule === 'steering'
    ? `${cause} would ${effect}, and ${user} may not do that (${missing})`
    : `${path}: ${user} may not ${effect} (${missing})`;
}

/** `verb "use" on secretshares/orders-db`, `verbs "create" and "patch" on deployments.apps in all namespaces` */
function rightText(right: Right, verbs: readonly string[]): string {
  const { group: apiGroup, resource, name, namespace } = right;
  const isOurs = apiGroup === group || apiGroup === '';
  const object = `${resource}${isOurs ? '' : `.${apiGroup}`}${name === undefined ? '' : `/${name}`}`;
  const place = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const scope = name === undefined && namespace === undefined ? ', cluster-wide' : place;
  return `${verbs.length === 1 ? 'verb' : 'verbs'} ${joined(verbs.map(quoted))} on ${object}${scope}`;
}

function isPolicy(right: Right): boolean {
  return right.group === group && right.resource === 'namespacepolicies';
}

/** `"create", "patch" and "delete"` */
function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}

// Words a verdict: the refusal for a person, warnings, audit annotations and the causes of a Status.

const maxReasons = 3;
const maxContacts = 3;
const maxContactLength = 200;
const maxCauses = 100;
/** The API server cuts longer warnings, and all beyond 4096 characters. */
const maxWarningLength = 256;
/** Other webhooks share the 4096 characters. */
const maxWarnings = 11;
const maxAuditLength = 8192;

const kinds: ReadonlyMap<AnyReview['resource'], string> = new Map([
  ['namespaces', 'Namespace'],
  ['secrets', 'Secret'],
  ['roles', 'Role'],
  ['rolebindings', 'RoleBinding'],
  ...kindDefinitions.map(({ plural, kind }) => [plural, kind] as const),
]);

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
  const subject = `${kinds.get(review.resource) ?? review.resource} ${clipped(name)} is refused`;
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

/** Names the expensive policies, because any author can have written them. */
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

/** Keeps one of two violations of different policies that say the same about one field. `causesOf` names both. */
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

/** Returns `Contact: …` with each contact of the policies and shares once. Undefined if no policy has a contact. */
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
  const { by, rule, message } = violation;
  // The path of an object of our own kinds already names the rule, and a message on steering names the provider.
  const source =
    by === 'reeve' || (rule === 'steering' && message !== undefined) ? '' : `${speaker(violation)}${rule}: `;
  return `${source}${violationText(violation)}`;
}

function speaker({ by, policy }: Violation): string {
  return by === 'reeve' ? '' : `${shownName(policy, by)}, `;
}

/** Guards that forbid a write, whatever the value of the field. */
const guards: ReadonlySet<string> = new Set(['steering', 'authors', 'fuse', 'finalizer', 'cascade']);

function causeReason({ rule, found }: Violation): Cause['reason'] {
  if (guards.has(rule)) return 'FieldValueForbidden';
  return found === 'nothing' ? 'FieldValueRequired' : 'FieldValueInvalid';
}
