// Asks the cluster for what a decision needs beyond the snapshot: a Namespace, and the rights of a user.
import { clipped } from '../base/text.ts';
import type { KubeObject } from '../base/kube-object.ts';
import type { Review } from '../policy/terms/review.ts';
import type { Requester } from '../rules/rule.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import { rightKey, type AccessAnswer, type Right, type RightKey } from '../policy/terms/verdict.ts';
import { outOfTime, unknownNamespace, type Answer } from './answer.ts';
import type { Deadline } from './http/deadline.ts';
import type { AccessReviewer, NamespaceFinder } from './ports.ts';
import { namespaceNeeded } from '../policy/compile/applicable-rules.ts';

export type Completed =
  { readonly ok: true; readonly snapshot: ClusterSnapshot } | { readonly ok: false; readonly answer: Answer };

/** Returns the snapshot with the Namespace of the review. A Namespace that cannot be found is a refusal. */
export function completeSnapshot(
  review: Review,
  snapshot: ClusterSnapshot,
  finder: NamespaceFinder,
  deadline: Deadline,
): Completed | Promise<Completed> {
  const name = namespaceNeeded(review, snapshot.policies);
  if (name === undefined || snapshot.namespace(name) !== undefined) return { ok: true, snapshot };
  return completedWith(name, snapshot, finder, deadline);
}

async function completedWith(
  name: string,
  snapshot: ClusterSnapshot,
  finder: NamespaceFinder,
  deadline: Deadline,
): Promise<Completed> {
  const found = await deadline.within((signal) => orUndefined(finder.find(name, signal)));
  if (!found.inTime) return { ok: false, answer: outOfTime };
  if (found.value === undefined) return { ok: false, answer: unknownNamespace(clipped(name)) };
  return { ok: true, snapshot: withNamespace(snapshot, name, found.value) };
}

/** A failed lookup must never mean "no policy matches". */
function orUndefined(found: Promise<KubeObject | undefined>): Promise<KubeObject | undefined> {
  return found.catch(() => undefined);
}

function withNamespace(snapshot: ClusterSnapshot, name: string, found: KubeObject): ClusterSnapshot {
  return {
    ...snapshot,
    namespace: (wanted) => (wanted === name ? found : snapshot.namespace(wanted)),
    namespaces: () => [...snapshot.namespaces(), found],
  };
}

/**
 * Asks for all rights in parallel, each once, and then for the other right of each that is missing. Returns undefined when the
 * deadline expires.
 */
export async function askRights(
  requester: Requester,
  rights: readonly Right[],
  reviewer: AccessReviewer,
  deadline: Deadline,
): Promise<ReadonlyMap<RightKey, AccessAnswer> | undefined> {
  const answers = await askAll(requester, rights, reviewer, deadline);
  const others = rights.flatMap((right) =>
    right.instead === undefined || answers?.get(rightKey(right)) === 'yes' ? [] : [right.instead],
  );
  const further = answers && (await askAll(requester, others, reviewer, deadline));
  return answers && further && new Map([...answers, ...further]);
}

async function askAll(
  requester: Requester,
  rights: readonly Right[],
  reviewer: AccessReviewer,
  deadline: Deadline,
): Promise<ReadonlyMap<RightKey, AccessAnswer> | undefined> {
  if (rights.length === 0) return new Map();
  const questions = [...new Map(rights.map((right) => [rightKey(right), right] as const))];
  const asked = await deadline.within((signal) =>
    Promise.all(
      questions.map(
        async ([key, right]) => [key, await answerTo(reviewer, requester, right, signal)] as const,
      ),
    ),
  );
  return asked.inTime ? new Map(asked.value) : undefined;
}

async function answerTo(
  reviewer: AccessReviewer,
  requester: Requester,
  right: Right,
  signal: AbortSignal,
): Promise<AccessAnswer> {
  try {
    return await reviewer.mayDo(requester, right, signal);
  } catch {
    return 'unknown';
  }
}
