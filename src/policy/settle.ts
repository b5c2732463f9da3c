// Settles a decision once the rights it asks for have been answered: allowed or not, and what to tell.
import { mastersGroup, useVerb, group } from '../api/names.ts';
import { clipped } from '../api/text.ts';
import { quoted } from './wording.ts';
import type { Review } from './review.ts';
import type { AccessAnswer, Decision, UseRight, Verdict, Violation } from './verdict.ts';

export function settle(
  decision: Decision,
  answers: ReadonlyMap<UseRight, AccessAnswer>,
  review: Review,
): Verdict {
  const having = (action: 'Deny' | 'Warn' | 'Audit'): readonly Violation[] =>
    decision.findings.filter(({ actions }) => actions.includes(action)).map(({ violation }) => violation);
  // Steering is a guard, not a rule: it refuses whatever the policy's validationActions say.
  const steering = decision.rights
    .filter((right) => answers.get(right) !== 'yes' && !isOnlyForRequesters(right, decision))
    .map((right) => steeringViolation(right, answers.get(right) ?? 'unknown', review));
  const denials = [...having('Deny'), ...steering];
  return {
    allowed: denials.length === 0 && !decision.overBudget,
    denials,
    warnings: having('Warn'),
    audits: having('Audit'),
    policies: decision.policies,
    overBudget: decision.overBudget,
  };
}

/** Where a policy lets nobody but its requesters create, the right to use it would not help: that has been said. */
function isOnlyForRequesters(right: UseRight, { findings }: Decision): boolean {
  return findings.some(
    ({ violation, actions }) =>
      violation.policy === right.name &&
      violation.rule === 'namespaces.requesters' &&
      actions.includes('Deny'),
  );
}

function steeringViolation(right: UseRight, answer: AccessAnswer, review: Review): Violation {
  const user = quoted(review.requester.username);
  const doubt = answer === 'unknown' ? ' (nobody could say whether the right is there)' : '';
  return {
    policy: right.name,
    rule: 'steering',
    path: 'metadata',
    found: `user ${user} would ${right.effect}, without the right to use it${doubt}`,
    accepted: `a user of group ${mastersGroup}, or one with that right, which this grants: ${grantLine(right, review)}`,
  };
}

/** A line for the shell that gives the person the right. */
function grantLine({ resource, name }: UseRight, { requester }: Review): string {
  const role = `reeve-use-${name}`;
  const user = shellWord(requester.username);
  return (
    `kubectl create clusterrole ${role} --verb=${useVerb} --resource=${resource}.${group} --resource-name=${name} && ` +
    `kubectl create clusterrolebinding ${role} --clusterrole=${role} --user=${user}`
  );
}

/** Quoted so that a name with spaces or quotes stays one word of the shell. */
function shellWord(text: string): string {
  const shown = clipped(text, 253);
  return /^[A-Za-z0-9@:._/-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", `'\\''`)}'`;
}
