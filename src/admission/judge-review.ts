// Puts one decoded review before the engine: looks up what it needs, lets it decide, asks for the rights, settles.
import { budgetUntil } from '../policy/budget.ts';
import type { Circumstances } from '../policy/budget.ts';
import { decide } from '../policy/decide.ts';
import { mutate } from '../policy/mutate.ts';
import type { Review } from '../policy/review.ts';
import { settle } from '../policy/settle.ts';
import type { ClusterSnapshot } from '../policy/snapshot.ts';
import { judged, mutated, outOfTime } from './answer.ts';
import type { Answer } from './answer.ts';
import type { Deadline } from './deadline.ts';
import { askRights, completeSnapshot } from './lookups.ts';
import type { AccessReviewer, Clock, Endpoint, NamespaceFinder } from './ports.ts';

export interface JudgePorts {
  readonly namespaces: NamespaceFinder;
  readonly access: AccessReviewer;
  readonly clock: Clock;
  /** How long the policies may take over one review. */
  readonly evaluationMs: number;
}

export async function judgeReview(
  endpoint: Endpoint,
  review: Review,
  known: ClusterSnapshot,
  ports: JudgePorts,
  deadline: Deadline,
): Promise<Answer> {
  const completed = await completeSnapshot(review, known, ports.namespaces, deadline);
  if (!completed.ok) return completed.answer;
  if (deadline.isOver) return outOfTime;
  const { snapshot } = completed;
  switch (endpoint) {
    case 'mutate':
      return mutateReview(review, snapshot, circumstancesOf(ports, deadline));
    case 'validate':
      return await validateReview(review, snapshot, ports, deadline);
    default:
      return endpoint satisfies never;
  }
}

async function validateReview(
  review: Review,
  snapshot: ClusterSnapshot,
  ports: JudgePorts,
  deadline: Deadline,
): Promise<Answer> {
  const decision = decide(review, snapshot, circumstancesOf(ports, deadline));
  const rights = await askRights(review.requester, decision.rights, ports.access, deadline);
  if (rights === undefined) return outOfTime;
  return judged(settle(decision, rights, review), review);
}

function mutateReview(review: Review, snapshot: ClusterSnapshot, circumstances: Circumstances): Answer {
  const { patch, denials, policies, overBudget } = mutate(review, snapshot, circumstances);
  if (denials.length === 0 && !overBudget) return mutated(patch, policies);
  return judged({ allowed: false, denials, warnings: [], audits: [], policies, overBudget }, review);
}

function circumstancesOf({ clock, evaluationMs }: JudgePorts, deadline: Deadline): Circumstances {
  const spent = Math.min(clock.monotonic() + evaluationMs, deadline.at);
  return { now: clock.now(), budget: budgetUntil(spent, () => clock.monotonic()) };
}
