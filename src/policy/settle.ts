// Settles a decision once the rights it asks for have been answered: allowed or not, and what to tell.
import { group, mastersGroup, useVerb } from '../api/names.ts';
import { clipped } from '../api/text.ts';
import { quoted } from './wording.ts';
import type { AnyReview } from './review.ts';
import {
  rightKey,
  type AccessAnswer,
  type Decision,
  type Right,
  type RightKey,
  type Verdict,
  type Violation,
} from './verdict.ts';

export function settle(
  decision: Decision,
  answers: ReadonlyMap<RightKey, AccessAnswer>,
  review: AnyReview,
): Verdict {
  const having = (action: 'Deny' | 'Warn' | 'Audit'): readonly Violation[] =>
    decision.findings.filter(({ actions }) => actions.includes(action)).map(({ violation }) => violation);
  const answerTo = (right: Right): AccessAnswer => answers.get(rightKey(right)) ?? 'unknown';
  // Steering is a guard, not a rule: it refuses whatever the policy's validationActions say.
  const steering = decision.rights
    .filter((right) => answerTo(right) !== 'yes' && !isOnlyForRequesters(right, decision))
    .map((right) => missingRight(right, answerTo(right), review));
  const denials = [...having('Deny'), ...steering];
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
function isOnlyForRequesters(right: Right, { findings }: Decision): boolean {
  return (
    isPolicy(right) &&
    findings.some(
      ({ violation, actions }) =>
        violation.policy === right.name &&
        violation.rule === 'namespaces.requesters' &&
        actions.includes('Deny'),
    )
  );
}

function isPolicy(right: Right): boolean {
  return right.group === group && right.resource === 'namespacepolicies';
}

function speakerOf(right: Right): Pick<Violation, 'by'> {
  if (isPolicy(right)) return {};
  return { by: right.group === group && right.resource === 'secretshares' ? 'share' : 'reeve' };
}

function missingRight(right: Right, answer: AccessAnswer, { requester }: AnyReview): Violation {
  const user = quoted(requester.username);
  const doubt = answer === 'unknown' ? ' (nobody could say whether the right is there)' : '';
  return {
    policy: right.name ?? '',
    ...speakerOf(right),
    rule: 'steering',
    path: 'metadata',
    found: `user ${user} would ${right.effect}, without the right to ${right.verb} it${doubt}`,
    accepted: `a user of group ${mastersGroup}, or one with that right, which this grants: ${grantLine(right, requester.username)}`,
  };
}

/** A line for the shell that gives the person the right; it works again for the next one who needs the same. */
function grantLine(right: Right, username: string): string {
  const role = roleName(right);
  const user = clipped(username, 253);
  const kind = right.namespace === undefined ? 'clusterrole' : 'role';
  const where = right.namespace === undefined ? '' : ` --namespace=${right.namespace}`;
  const binding = shellWord(`${role}-${user.replaceAll(/[^A-Za-z0-9@:._-]/g, '-')}`);
  return (
    `echo ${quotedForShell(roleManifest(right, role))} | kubectl apply -f - && ` +
    `kubectl create ${kind}binding ${binding}${where} --${kind}=${role} --user=${shellWord(user)}`
  );
}

/** `kubectl create clusterrole` does not take the verb `use` for other kinds than one that is no more. */
function roleManifest({ verb, group: apiGroup, resource, name, namespace }: Right, role: string): string {
  const resourceNames = name === undefined ? {} : { resourceNames: [name] };
  return JSON.stringify({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: { name: role, namespace },
    rules: [{ apiGroups: [apiGroup], resources: [resource], ...resourceNames, verbs: [verb] }],
  });
}

/** A policy and a share of one name must not come to the same role. */
function roleName(right: Right): string {
  const { verb, resource, name } = right;
  const what = verb === useVerb && isPolicy(right) ? [] : [resource];
  return ['reeve', verb, ...what, ...(name === undefined ? [] : [name])].join('-');
}

function shellWord(text: string): string {
  return /^[A-Za-z0-9@:._/-]+$/.test(text) ? text : quotedForShell(text);
}

/** One word of the shell, whatever spaces and quotes are in it. */
function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
