// Settles a decision once the rights it asks for have been answered: allowed or not, and what to tell.
import { group, mastersGroup } from '../../api/names.ts';
import { grantLine, isPolicy, resourceName } from './grant-line.ts';
import { quoted } from '../terms/wording.ts';
import type { AnyReview } from '../terms/review.ts';
import {
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
  const having = (action: 'Deny' | 'Warn' | 'Audit'): readonly Violation[] =>
    decision.violations.filter(({ actions }) => actions.includes(action)).map(({ violation }) => violation);
  const answerTo = (right: Right): AccessAnswer => answers.get(rightKey(right)) ?? 'unknown';
  // Guards refuse whatever the policy's validationActions say.
  const missing = decision.rights.filter(
    (right) => answerTo(right) !== 'yes' && !isOnlyForRequesters(right, decision),
  );
  const guarded = [...Map.groupBy(missing, whatFor).values()].flatMap((rights) =>
    missingRights(rights, rights.map(answerTo).includes('unknown'), review),
  );
  const denials = [...having('Deny'), ...guarded];
  return {
    allowed: denials.length === 0 && !decision.overBudget,
    denials,
    warnings: having('Warn'),
    audits: having('Audit'),
    notices: decision.notices,
    policies: decision.policies,
    overBudget: decision.overBudget,
  };
}

/** Where a policy lets nobody but its requesters create, the right to use it would not help: that has been said. */
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

function speakerOf(right: Right): Pick<Violation, 'policy' | 'by'> {
  const policy = right.name ?? '';
  if (isPolicy(right)) return { policy };
  return { policy, by: right.group === group && right.resource === 'secretshares' ? 'share' : 'reeve' };
}

/** The same for rights that are told, and granted, as one. */
function whatFor({ rule, path, effect, group: apiGroup, resource, name, namespace }: Right): string {
  return JSON.stringify([rule, path, effect, apiGroup, resource, name, namespace]);
}

function missingRights(
  rights: readonly Right[],
  isDoubtful: boolean,
  { requester: { username } }: AnyReview,
): readonly Violation[] {
  const [right] = rights;
  if (right === undefined) return [];
  const { rule, path, effect } = right;
  const verbs = rights.map(({ verb }) => verb);
  const what = right.name === undefined ? resourceName(right) : 'it';
  const doubt = isDoubtful ? ' (nobody could say whether the right is there)' : '';
  const that = verbs.length === 1 ? 'that right' : 'those rights';
  return [
    {
      ...(rule === 'steering' ? speakerOf(right) : { policy: '', by: 'reeve' }),
      rule,
      path,
      found: `user ${quoted(username)} would ${effect}, without the right to ${listed(verbs)} ${what}${doubt}`,
      accepted: `a user of group ${mastersGroup}, or one with ${that}, which this grants: ${grantLine(right, verbs, username)}`,
    },
  ];
}

/** `create, patch and delete` */
function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}
