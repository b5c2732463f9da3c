// Turns a decision into a verdict, once the API server has answered which rights the user has.
import { group } from '../../schema/names.ts';
import { quoted } from '../../base/text.ts';
import { isProviderReview, type AnyReview } from '../terms/review.ts';
import {
  causesFirst,
  rightKey,
  type AccessAnswer,
  type Decision,
  type Right,
  type RightKey,
  type Verdict,
  type Violation,
} from '../terms/verdict.ts';

export function settle(
  decision: Decision,
  answers: ReadonlyMap<RightKey, AccessAnswer>,
  review: AnyReview,
): Verdict {
  const ordered = causesFirst(decision.violations);
  const having = (action: 'Deny' | 'Warn' | 'Audit'): readonly Violation[] =>
    ordered.filter(({ actions }) => actions.includes(action)).map(({ violation }) => violation);
  const given = (right: Right): AccessAnswer => answers.get(rightKey(right)) ?? 'unknown';
  const answerTo = (right: Right): AccessAnswer =>
    right.instead !== undefined && given(right.instead) === 'yes' ? 'yes' : given(right);
  const denied = having('Deny');
  const deniedPaths = new Set(denied.map(({ path }) => path));
  // A missing right is a denial whatever validationActions the policy has.
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

/** Where only requesters may create, that violation says all: the right to use the policy would not help. */
function isOnlyForRequesters(right: Right, { violations }: Decision): boolean {
  return (
    right.rule === 'steering' &&
    isPolicy(right) &&
    violations.some(
      ({ violation, actions }) =>
        violation.policy === right.name &&
        violation.rule === 'namespaces.requesters' &&
        actions.includes('Deny'),
    )
  );
}

/** The write cannot keep these fields, whichever rights the user has. So the right would be a second reason for one fault. */
function isDeniedAnyway({ causedBy = [] }: Right, deniedPaths: ReadonlySet<string>): boolean {
  return causedBy.length > 0 && causedBy.every((path) => deniedPaths.has(path));
}

/** Returns one key for the rights that go into one violation: they differ only in the verb. */
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
  const { instead } = right;
  const verbs = rights.map(({ verb }) => verb);
  const other = instead === undefined ? '' : `, or ${rightText(instead, [instead.verb])}`;
  const missing = `${rightText(right, verbs)}${other}`;
  const user = `user ${quoted(username)}`;
  return [
    {
      ...(rule === 'steering' ? providerOf(right) : { policy: '', by: 'reeve' }),
      rule,
      path,
      found: `${user} without ${missing}${isDoubtful ? ' (the API server gave no answer)' : ''}`,
      accepted: `a user with ${missing}`,
      message: refusalText(right, user, missing, isDoubtful),
      contact,
    },
  ];
}

function providerOf(right: Right): Pick<Violation, 'policy' | 'by'> {
  const policy = right.name ?? '';
  if (isPolicy(right)) return { policy };
  return { policy, by: right.group === group && right.resource === 'secretshares' ? 'share' : 'reeve' };
}

function refusalText(
  { rule, path, cause = 'this write', effect }: Right,
  user: string,
  missing: string,
  isDoubtful: boolean,
): string {
  if (isDoubtful) {
    const reason = `the API server did not answer whether ${user} has the right (${missing})`;
    return rule === 'steering'
      ? `${cause} would ${effect}, and ${reason}`
      : `${path}: this write would ${effect}, and ${reason}`;
  }
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
