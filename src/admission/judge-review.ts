// Judges one decoded review: finds its Namespace, calls the engine, asks for rights, and settles the verdict.
import type { Budget } from '../policy/terms/budget.ts';
import type { Mutation } from '../policy/decide/mutate.ts';
import { decideProvider, reviewSubject } from '../policy/authors/decide-provider.ts';
import type { Install } from '../policy/terms/install.ts';
import {
  isClaimReview,
  isProviderReview,
  nothingToDecide,
  type AnyReview,
  type ClaimReview,
  type ProviderReview,
  type Review,
  askedRights,
  rightKey,
  type Decision,
  type AccessAnswer,
  type Right,
  type RightKey,
  type Trace,
} from '../policy/terms/review.ts';
import type { Requester } from '../rules/rule.ts';
import { settle, type Overrun } from '../policy/decide/settle.ts';
import { type ClusterSnapshot, namespaceNeeded } from '../policy/compile/snapshot.ts';
import {
  allowed,
  judged,
  mutated,
  outOfTime,
  shortOfTime,
  waitedFor,
  type Answer,
  unknownNamespace,
} from './answer.ts';
import type { LongDecisions } from './long-decisions.ts';
import type { Deadline, Clock } from '../base/clock.ts';
import type { AccessReviewer, ClaimFinder, Endpoint, NamespaceFinder } from './ports.ts';
import { clipped } from '../base/text.ts';
import type { KubeObject } from '../base/metadata.ts';
import { claimEngine, judgeClaimed, plainEngine, type Engine } from './judge-claim.ts';

export interface JudgePorts {
  readonly namespaces: NamespaceFinder;
  readonly access: AccessReviewer;
  /** Absent if this installation creates no Namespaces for claims, and without a cluster. */
  readonly claims?: ClaimFinder | undefined;
  /** The account that creates the objects of policies. Absent without a cluster. */
  readonly ownAccount?: Requester;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The evaluation budget of one review, in units of work. */
  readonly evaluationUnits: number;
  readonly install: Install;
  /** Records the result of each rule. The server sets none. */
  readonly trace?: Trace;
}

export interface Judging extends JudgePorts {
  readonly longDecisions: LongDecisions;
}

/** Most reviews ask nothing of the cluster, so their answer is no promise. Three promises would add 0.2 us to 9 us. */
export function judgeReview(
  endpoint: Endpoint,
  review: AnyReview,
  snapshot: ClusterSnapshot,
  ports: Judging,
  deadline: Deadline,
): Answer | Promise<Answer> {
  if (isProviderReview(review)) return judgeProvider(endpoint, review, snapshot, ports, deadline);
  const known = { ok: true, snapshot } as const;
  if (isClaimReview(review)) return judgeObject(endpoint, review, known, ports, deadline, claimEngine);
  if (isForClaim(review, ports))
    return judgeClaimed(endpoint, review, { snapshot, claims: ports.claims }, deadline, (claimed, engine) =>
      judgeObject(endpoint, claimed, known, ports, deadline, engine),
    );
  const completed = completeSnapshot(review, snapshot, ports.namespaces, deadline);
  return completed instanceof Promise
    ? completed.then((found) => judgeObject(endpoint, review, found, ports, deadline, plainEngine))
    : judgeObject(endpoint, review, completed, ports, deadline, plainEngine);
}

// oxlint-disable-next-line max-params -- the judgement, its ports and the engine
function judgeObject<R extends Review | ClaimReview>(
  endpoint: Endpoint,
  review: R,
  completed: Completed,
  ports: JudgePorts,
  deadline: Deadline,
  engine: Engine<R>,
): Answer | Promise<Answer> {
  if (!completed.ok) return completed.answer;
  if (deadline.isOver) return outOfTime;
  const [{ snapshot }, { clock, evaluationUnits, trace, install }] = [completed, ports];
  const budget = new EvaluationBudget(evaluationUnits, () => clock.monotonic(), deadline.at);
  const circumstances = { now: clock.now(), budget, trace, install };
  switch (endpoint) {
    case 'mutate':
      return mutateReview(review, engine.mutate(review, snapshot, circumstances), budget);
    case 'validate': {
      const decision = engine.decide(review, snapshot, circumstances);
      if (!decision.overBudget) return settled(review, decision, ports, deadline);
      return budget.isLate ? shortOfTime : settled(review, decision, ports, deadline, costOf(budget));
    }
    default:
      return endpoint satisfies never;
  }
}

/** Returns true for a Namespace that the reconciler creates or deletes: it does so for claims alone, and where there are none never. */
function isForClaim({ resource, operation, requester }: Review, { ownAccount }: JudgePorts): boolean {
  return resource === 'namespaces' && operation !== 'UPDATE' && requester.username === ownAccount?.username;
}

/** The budget is most of the request time, because a policy must be repairable however many namespaces exist. */
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
  // Reeve's own rights are a part of these rights.
  if (askedRights(decision).length === 0) return judged(settle(decision, new Map(), review), review, overrun);
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
    askRights(review.requester, askedRights(decision), access, deadline),
    askRights(ownAccount ?? review.requester, ownRights, access, deadline),
  ]);
  if (rights === undefined) return outOfTime;
  const missing = ownRights.filter((right) => own?.get(rightKey(right)) === 'no');
  const notices = [...missing.map(({ notice }) => notice), ...decision.notices];
  return judged(settle({ ...decision, notices }, rights, review), review, overrun);
}

function mutateReview(
  review: AnyReview,
  { patch, denials, policies, notices, overBudget }: Mutation,
  budget: EvaluationBudget,
): Answer {
  if (denials.length === 0 && !overBudget) return mutated(patch, policies, notices);
  if (overBudget && budget.isLate) return shortOfTime;
  const violations = denials.map((violation) => ({ violation, actions: ['Deny'] as const }));
  const verdict = settle({ ...nothingToDecide, violations, policies, overBudget }, new Map(), review);
  return judged(verdict, review, overBudget ? costOf(budget) : undefined);
}

// The budget of one review in units of work, and the policies that use most of it.

/** A policy with a smaller part of the work is not named. */
const minShare = 0.1;
const maxPolicies = 3;

/** Reads the clock once for this much work, which takes milliseconds. Most reviews need less, and never read the clock. */
const unitsPerLook = 20_000;

/** A policy, and the units that it has used in one review. */
interface PolicyCost {
  readonly policy: string;
  readonly units: number;
}

/** The caller waits only until `due`, in milliseconds of the monotonic clock. */
export class EvaluationBudget implements Budget {
  readonly units: number;
  readonly #monotonic: () => number;
  readonly #due: number;
  readonly #usedBy = new Map<string, number>();
  #left: number;
  /** The rest of the budget when the policy began to spend. */
  #began: number;
  #nextLook: number;
  #policy = '';
  #isLate = false;

  constructor(units: number, monotonic: () => number, due: number) {
    this.units = units;
    this.#left = units;
    this.#began = units;
    this.#nextLook = units - unitsPerLook;
    this.#monotonic = monotonic;
    this.#due = due;
  }

  spend(units: number): void {
    this.#left -= units;
  }

  charge(policy: string): void {
    if (policy !== this.#policy) this.#note(policy);
  }

  isSpent(): boolean {
    if (this.#left <= 0) return true;
    if (this.#left < this.#nextLook) {
      this.#nextLook = this.#left - unitsPerLook;
      this.#isLate ||= this.#monotonic() >= this.#due;
    }
    return this.#isLate;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  /** Returns the policies that used most of the budget, the most expensive first. */
  dearest(): readonly PolicyCost[] {
    this.#note(this.#policy);
    const used = [...this.#usedBy].map(([policy, units]): PolicyCost => ({ policy, units }));
    const total = used.reduce((sum, { units }) => sum + units, 0);
    return used
      .filter(({ policy, units }) => policy !== '' && units >= total * minShare)
      .sort((a, b) => b.units - a.units)
      .slice(0, maxPolicies);
  }

  #note(next: string): void {
    const units = this.#began - this.#left;
    if (units > 0) this.#usedBy.set(this.#policy, (this.#usedBy.get(this.#policy) ?? 0) + units);
    this.#began = this.#left;
    this.#policy = next;
  }
}

// Asks the cluster for what a decision needs beyond the snapshot: a Namespace, and the rights of a user.

type Completed =
  { readonly ok: true; readonly snapshot: ClusterSnapshot } | { readonly ok: false; readonly answer: Answer };

/** Returns the snapshot with the Namespace of the review. A Namespace that cannot be found is a refusal. */
function completeSnapshot(
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

/** Turns an error into undefined, because a failed lookup must never mean "no policy matches". */
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
