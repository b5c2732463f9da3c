// Judges one decoded review: finds its Namespace, calls the engine, asks for rights, and settles the verdict.
import type { Circumstances } from '../policy/terms/budget.ts';
import { decide } from '../policy/decide/decide.ts';
import { mutate } from '../policy/decide/mutate.ts';
import { decideProvider, reviewSubject } from '../policy/authors/decide-provider.ts';
import type { Install } from '../policy/compile/install.ts';
import { isProviderReview } from '../policy/terms/review.ts';
import type { AnyReview, ProviderReview, Requester, Review } from '../policy/terms/review.ts';
import { settle } from '../policy/decide/settle.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import { rightKey, type Decision } from '../policy/terms/verdict.ts';
import { allowed, judged, mutated, outOfTime, waitedFor } from './answer.ts';
import { EvaluationBudget } from './evaluation-budget.ts';
import type { LongDecisions } from './long-decisions.ts';
import type { Answer } from './answer.ts';
import type { Deadline } from './http/deadline.ts';
import { askRights, completeSnapshot } from './lookups.ts';
import type { Clock } from '../base/clock.ts';
import type { AccessReviewer, Endpoint, NamespaceFinder } from './ports.ts';

export interface JudgePorts {
  readonly namespaces: NamespaceFinder;
  readonly access: AccessReviewer;
  /** The account that creates the objects of policies. Absent without a cluster. */
  readonly ownAccount?: Requester;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Milliseconds for which this thread has used a CPU. */
  readonly cpuTime: () => number;
  /** The evaluation budget of one review, in milliseconds of CPU time. */
  readonly evaluationMs: number;
  readonly install: Install;
}

export interface Judging extends JudgePorts {
  readonly longDecisions: LongDecisions;
}

export async function judgeReview(
  endpoint: Endpoint,
  review: AnyReview,
  snapshot: ClusterSnapshot,
  ports: Judging,
  deadline: Deadline,
): Promise<Answer> {
  return isProviderReview(review)
    ? await judgeProvider(endpoint, review, snapshot, ports, deadline)
    : await judgeObject(endpoint, review, snapshot, ports, deadline);
}

async function judgeObject(
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
  const { clock, cpuTime, evaluationMs } = ports;
  const budget = new EvaluationBudget(cpuTime, evaluationMs, () => clock.monotonic() >= deadline.at);
  const circumstances = { now: clock.now(), budget };
  switch (endpoint) {
    case 'mutate':
      return mutateReview(review, snapshot, circumstances);
    case 'validate': {
      const decision = decide(review, snapshot, circumstances);
      return await settled(review, decision, ports, deadline, decision.overBudget ? budget.slowest() : []);
    }
    default:
      return endpoint satisfies never;
  }
}

/** Has most of the request time as its budget: a policy must be repairable however many namespaces there are. */
async function judgeProvider(
  endpoint: Endpoint,
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  ports: Judging,
  deadline: Deadline,
): Promise<Answer> {
  if (endpoint === 'mutate') return allowed;
  const { clock, install, longDecisions } = ports;
  const made = await longDecisions.make(
    { user: review.requester.username, subject: reviewSubject(review) },
    (budget) => decideProvider(review, snapshot, { now: clock.now(), budget, install }),
    deadline,
  );
  if (made.kind === 'waited') return waitedFor(made.subject);
  return await settled(review, made.value, ports, deadline);
}

async function settled(
  review: AnyReview,
  decision: Decision,
  { access, ownAccount }: JudgePorts,
  deadline: Deadline,
  slowest: readonly string[] = [],
): Promise<Answer> {
  const ownRights = ownAccount === undefined ? [] : decision.ownRights;
  const [rights, own] = await Promise.all([
    askRights(review.requester, decision.rights, access, deadline),
    askRights(ownAccount ?? review.requester, ownRights, access, deadline),
  ]);
  if (rights === undefined) return outOfTime;
  const missing = ownRights.filter((right) => own?.get(rightKey(right)) === 'no');
  const notices = [...missing.map(({ notice }) => notice), ...decision.notices];
  return judged(settle({ ...decision, notices }, rights, review), review, slowest);
}

function mutateReview(
  review: Review,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances & { readonly budget: EvaluationBudget },
): Answer {
  const { patch, denials, policies, notices, overBudget } = mutate(review, snapshot, circumstances);
  if (denials.length === 0 && !overBudget) return mutated(patch, policies, notices);
  const verdict = {
    unjudged: [],
    allowed: false,
    denials,
    warnings: [],
    audits: [],
    notices: [],
    policies,
    overBudget,
  };
  return judged(verdict, review, circumstances.budget.slowest());
}
