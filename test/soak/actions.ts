// Random actions of people on the cluster, and the expected answer of the API server to each.
import { operator, rescuer, type Call, type CallAnswer, type Person } from './api-calls.ts';
import type { KeptKind, KeptObject, KeptObjects } from './kept-objects.ts';
import type { Random } from './random.ts';
import type { Stored } from './stored.ts';
import {
  counts,
  namespaceName,
  namespacePath,
  namespaceWith,
  policyPath,
  policyWith,
  sharePath,
  shareWith,
  sourcePath,
  sourceWith,
  wrongNamespace,
  type Written,
} from './world.ts';

/** The existing objects, which do not depend on earlier choices. */
export interface Surroundings {
  readonly canary: string;
  readonly kept: KeptObjects;
}

export interface Action {
  readonly name: string;
  readonly call: Call;
  readonly isAsExpected: (answer: CallAnswer) => boolean;
}

const weights = {
  'write a namespace': 45,
  // The weight is low, because the controllers take longest for a deletion of a namespace.
  'delete a namespace': 2,
  'write a policy': 4,
  'delete a policy': 0.7,
  'write a share': 4,
  'delete a share': 0.7,
  'write a source': 7,
  'delete a source': 0.7,
  'change a kept object in an emergency': 10,
  'delete a kept object in an emergency': 10,
  'break a rule': 8,
  'change a kept object': 8,
};

export function nextAction(random: Random, surroundings: Surroundings): Action {
  const name = random.weighted(weights);
  return { name, ...planners[name](random, surroundings) };
}

type Plan = Omit<Action, 'name'>;
type Planner = (random: Random, surroundings: Surroundings) => Plan;

const planners: Readonly<Record<keyof typeof weights, Planner>> = {
  'write a namespace': (random) => writing(namespaceWith(namespaceName(random), random)),
  'delete a namespace': (random) => deleting(namespacePath(namespaceName(random))),
  'write a policy': (random) => writing(policyWith(random.below(counts.policies), random)),
  'delete a policy': (random) => deleting(policyPath(random.below(counts.policies))),
  'write a share': (random) => writing(shareWith(random.below(counts.shares), random)),
  'delete a share': (random) => deleting(sharePath(random.below(counts.shares))),
  'write a source': (random, { canary }) => writing(sourceWith(random.below(counts.sources), canary, random)),
  'delete a source': (random) => deleting(sourcePath(random.below(counts.sources))),
  'change a kept object in an emergency': (random, { kept }) =>
    changing(kept.pick(random), random, rescuer, isDoneOrGone),
  'delete a kept object in an emergency': (random, { kept }) => deleting(kept.pick(random).path, rescuer),
  'change a kept object': (random, { kept }) =>
    changing(kept.pick(random), random, operator, isNotOfWhatIsKept),
  'break a rule': (random) => writing(wrongNamespace(random), isRefusedByARule),
};

function writing({ path, body }: Written, isAsExpected: Plan['isAsExpected'] = isDone): Plan {
  return { call: { method: 'PATCH', path, body, as: operator }, isAsExpected };
}

function deleting(path: string, as = operator): Plan {
  return { call: { method: 'DELETE', path, as }, isAsExpected: isDoneOrGone };
}

function changing(
  { kind, path }: KeptObject,
  random: Random,
  as: Person,
  isAsExpected: Plan['isAsExpected'],
): Plan {
  const contentType = 'application/merge-patch+json';
  return { call: { method: 'PATCH', path, body: spoiling(kind, random), contentType, as }, isAsExpected };
}

/** Returns a damaging change, each time a different one, because a repeated change would change nothing. */
function spoiling(kind: KeptKind, random: Random): object {
  const name = `spoiled-${random.below(1_000_000_000)}`;
  switch (kind) {
    case 'RoleBinding':
      return { subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name }] };
    case 'ConfigMap':
      // Reeve lets other users set label and annotation keys of their own.
      return { data: { namespace: null, revision: name } };
    case 'Secret':
      return random.chance(0.5)
        ? { metadata: { labels: { flavor: name } } }
        : { data: { token: null, more: Buffer.from(name).toString('base64') } };
    default:
      return kind satisfies never;
  }
}

function isDone({ status, message }: CallAnswer): boolean {
  // An apply is refused while the same object is created, deleted or written by another client.
  return (status >= 200 && status < 300) || (status === 409 && !message.includes('webhook'));
}

function isDoneOrGone(answer: CallAnswer): boolean {
  return isDone(answer) || answer.status === 404 || isImmutable(answer);
}

function isRefusedByARule({ status, message }: CallAnswer): boolean {
  return status === 403 && message.includes('admission webhook') && message.includes('namespaces.required');
}

/** Reeve may have released or deleted the object since it was listed. */
function isNotOfWhatIsKept(answer: CallAnswer): boolean {
  const { status, message, body } = answer;
  if (status === 200) return (body as Stored).metadata.labels?.['app.kubernetes.io/managed-by'] !== 'reeve';
  return (
    status === 404 || isImmutable(answer) || (status === 403 && message.includes('only Reeve writes it'))
  );
}

/** The API server checks immutable Secrets before it calls a webhook. */
function isImmutable({ status, message }: CallAnswer): boolean {
  return status === 422 && message.includes('immutable');
}
