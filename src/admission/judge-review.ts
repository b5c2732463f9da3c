// Judges one decoded review: finds its Namespace, calls the engine, asks for rights, and settles the verdict.
import type { Circumstances } from '../policy/terms/budget.ts';
import { decide } from '../policy/decide/decide.ts';
import { mutate } from '../policy/decide/mutate.ts';
import { decideProvider, reviewSubject } from '../policy/authors/decide-provider.ts';
import type { Install } from '../policy/compile/install.ts';
import { isProviderReview } from '../policy/terms/review.ts';
import type { AnyReview, ProviderReview, Review } from '../policy/terms/review.ts';
import type { Requester } from '../rules/rule.ts';
import { settle } from '../policy/decide/settle.ts';
import type { Trace } from '../policy/terms/trace.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import type { Overrun } from '../policy/terms/message.ts';
import { rightKey, type Decision } from '../policy/terms/verdict.ts';
import { allowed, judged, mutated, outOfTime, shortOfTime, waitedFor } from './answer.ts';
import { EvaluationBudget } from './evaluation-budget.ts';
import type { LongDecisions } from './long-decisions.ts';
import type { Answer } from './answer.ts';
import type { Deadline } from './http/deadline.ts';
import { askRights, completeSnapshot, type Completed } from './lookups.ts';
import type { Clock } from '../base/clock.ts';
import type { AccessReviewer, Endpoint, NamespaceFinder } from './ports.ts';

export interface JudgePorts {
  readonly namespaces: NamespaceFinder;
  readonly access: AccessReviewer;
  /** The account that creates the objects of policies. Absent without a cluster. */
  readonly ownAccount?: Requester;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The evaluation budget of one review, in units of work. */
  readonly evaluationUnits: number;
  readonly install: Install;
  /** The server has none. */
  readonly trace?: Trace;
}

export interface Judging extends JudgePorts {
  readonly longDecisions: LongDecisions;
}

/** Most reviews ask nothing of the cluster. Their answer is no promise: three of them would add 0.2 us to the 9 us of a decision. */
export function judgeReview(
  endpoint: Endpoint,
  review: AnyReview,
  snapshot: ClusterSnapshot,
  ports: Judging,
  deadline: Deadline,
): Answer | Promise<Answer> {
  if (isProviderReview(review)) return judgeProvider(endpoint, review, snapshot, ports, deadline);
  const completed = completeSnapshot(review, snapshot, ports.namespaces, deadline);
  return completed instanceof Promise
    ? completed.then((found) => judgeObject(endpoint, review, found, ports, deadline))
    : judgeObject(endpoint, review, completed, ports, deadline);
}

function judgeObject(
  endpoint: Endpoint,
  review: Review,
  completed: Completed,
  ports: JudgePorts,
  deadline: Deadline,
): Answer | Promise<Answer> {
  if (!completed.ok) return completed.answer;
  if (deadline.isOver) return outOfTime;
  const { snapshot } = completed;
  const { clock, evaluationUnits, trace } = ports;
  const budget = new EvaluationBudget(evaluationUnits, () => clock.monotonic(), deadline.at);
  const circumstances = { now: clock.now(), budget, trace };
  switch (endpoint) {
    case 'mutate':
      return mutateReview(review, snapshot, circumstances);
    case 'validate': {
      const decision = decide(review, snapshot, circumstances);
      if (!decision.overBudget) return settled(review, decision, ports, deadline);
      return budget.isLate ? shortOfTime : settled(review, decision, ports, deadline, costOf(budget));
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
  return await settled(review, made.value, ports, deadline, { isLate: made.isLate });
}

function costOf(budget: EvaluationBudget): Overrun {
  return { isLate: false, units: budget.units, dearest: budget.dearest() };
}

function settled(
  review: AnyReview,
  decision: Decision,
  ports: JudgePorts,
  deadline: Deadline,
  overrun?: Overrun,
): Answer | Promise<Answer> {
  // The own rights are a part of them.
  if (decision.rights.length === 0) return judged(settle(decision, new Map(), review), review, overrun);
  const ownRights = ports.ownAccount === undefined ? [] : decision.ownRights;
  return settledByRights(review, { ...decision, ownRights }, ports, deadline, overrun);
}

async function settledByRights(
  review: AnyReview,
  decision: Decision,
  { access, ownAccount }: JudgePorts,
  deadline: Deadline,
  overrun: Overrun | undefined,
): Promise<Answer> {
  const { ownRights } = decision;
  const [rights, own] = await Promise.all([
    askRights(review.requester, decision.rights, access, deadline),
    askRights(ownAccount ?? review.requester, ownRights, access, deadline),
  ]);
  if (rights === undefined) return outOfTime;
  const missing = ownRights.filter((right) => own?.get(rightKey(right)) === 'no');
  const notices = [...missing.map(({ notice }) => notice), ...decision.notices];
  return judged(settle({ ...decision, notices }, rights, review), review, overrun);
}

function mutateReview(
  review: Review,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances & { readonly budget: EvaluationBudget },
): Answer {
  const { patch, denials, policies, notices, overBudget } = mutate(review, snapshot, circumstances);
  if (denials.length === 0 && !overBudget) return mutated(patch, policies, notices);
  if (overBudget && circumstances.budget.isLate) return shortOfTime;
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
  return judged(verdict, review, overBudget ? costOf(circumstances.budget) : undefined);
}
