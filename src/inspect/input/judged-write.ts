// Judges a write as the two webhooks do, one after the other, without a server. Commands judge writes only here.
import { allowed, malformed, type Answer } from '../../admission/answer.ts';
import type { JudgedResource } from '../../admission/decode/decode-target.ts';
import { decodeReview } from '../../admission/decode/decode-review.ts';
import { Deadline } from '../../base/clock.ts';
import { judgeReview, type Judging } from '../../admission/judge-review.ts';
import { defaultEvaluationUnits } from '../../policy/terms/budget.ts';
import { LongDecisions } from '../../admission/long-decisions.ts';
import type { AccessReviewer, Endpoint } from '../../admission/ports.ts';
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { withStamp } from '../../policy/authors/decide-claim.ts';
import { patchedBy } from '../../policy/decide/mutate.ts';
import {
  isClaimReview,
  isProviderReview,
  type AnyReview,
  type Trace,
  type Verdict,
} from '../../policy/terms/review.ts';
import { mastersGroup } from '../../schema/names.ts';
import type { Operation, Requester } from '../../rules/rule.ts';
import type { Install } from '../../policy/terms/install.ts';

export interface WriteSetup {
  readonly snapshot: ClusterSnapshot;
  readonly install: Install;
  /** Default: the user has all rights. */
  readonly access?: AccessReviewer;
  readonly now: Date;
  /** Called for the validating webhook only. */
  readonly trace?: Trace;
  /** True for the write of a file. Its sender is unknown, and each webhook reports everything, also after a refusal. */
  readonly isOfFile?: true;
}

interface JudgedWrite {
  /** The refusal of the mutating webhook, or otherwise the answer of the validating one. */
  readonly answer: Answer;
  /** The warnings of both webhooks. */
  readonly warnings: readonly string[];
  /** The object with the defaults of policies. Undefined for a deletion, and if the request is malformed. */
  readonly object: KubeObject | undefined;
  /** The decisions of the engine, one for each webhook. Empty if no rule judges the write. */
  readonly verdicts: readonly Verdict[];
}

/** Kubernetes adds these groups: https://kubernetes.io/docs/reference/access-authn-authz/authentication/ */
export function askedUser(username: string, given: readonly string[]): Requester {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username) ?? [];
  const own =
    namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { username, groups: [...own, ...given, 'system:authenticated'] };
}

/** An account with all rights, because `reeve explain` says which rights an author needs. */
export const administrator: Requester = askedUser('system:admin', [mastersGroup]);

/** `request`: the `request` of an AdmissionReview. */
export async function judgeWrite(request: JsonObject, setup: WriteSetup): Promise<JudgedWrite> {
  const ports = portsOf(setup);
  const first = await answerTo('mutate', request, setup, ports);
  const { refusal, patch, warnings } = first.answer;
  const ofFirst = first.answer.verdict === undefined ? [] : [first.answer.verdict];
  const goesOn =
    setup.isOfFile === true && first.review !== undefined && first.answer.verdict?.overBudget !== true;
  if (refusal !== undefined && !goesOn)
    return { answer: first.answer, warnings, object: undefined, verdicts: ofFirst };
  const sent = first.review?.object;
  const mutated = sent === undefined ? request : { ...request, object: changed(first, sent, patch) };
  const { answer, review } = await answerTo('validate', mutated, setup, ports);
  const verdicts = answer.verdict === undefined ? ofFirst : [...ofFirst, answer.verdict];
  return { answer, warnings: [...warnings, ...answer.warnings], object: review?.object, verdicts };
}

function changed({ review }: Answered, sent: KubeObject, patch: Answer['patch']): KubeObject {
  return review !== undefined && isClaimReview(review) ? withStamp(sent, patch) : patchedBy(sent, patch);
}

export interface WriteSides {
  readonly after: KubeObject | undefined;
  readonly before: KubeObject | undefined;
}

type Written = Omit<JudgedResource, 'subresources'>;

export const namespaceResource: Written = {
  resource: 'namespaces',
  group: '',
  version: 'v1',
  kind: 'Namespace',
};

/** Builds the request that the API server would send: a creation without `before`, a deletion without `after`. */
export function writtenRequest(
  { resource, group, version, kind }: Written,
  { after, before }: WriteSides,
  { username, groups }: Pick<Requester, 'username' | 'groups'>,
  { place = '', dryRun = false }: { readonly place?: string; readonly dryRun?: boolean } = {},
): JsonObject {
  const { metadata } = after ?? before ?? { metadata: {} };
  const { name = '' } = metadata;
  return {
    uid: 'reeve',
    kind: { group, version, kind },
    resource: { group, version, resource },
    name,
    // In a request for a Namespace, its name is the namespace, too.
    namespace: resource === 'namespaces' ? name : (metadata.namespace ?? place),
    operation: operationOf({ after, before }),
    userInfo: { username, groups },
    object: after ?? null,
    oldObject: before ?? null,
    dryRun,
    options: null,
  };
}

function operationOf({ after, before }: WriteSides): Operation {
  if (after === undefined) return 'DELETE';
  return before === undefined ? 'CREATE' : 'UPDATE';
}

interface Answered {
  readonly answer: Answer;
  readonly review: AnyReview | undefined;
}

async function answerTo(
  endpoint: Endpoint,
  request: JsonObject,
  { snapshot, isOfFile }: WriteSetup,
  ports: Judging,
): Promise<Answered> {
  const whole = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
  const decoded = decodeReview(Buffer.from(JSON.stringify(whole)), endpoint);
  switch (decoded.kind) {
    case 'review': {
      const deadline = new Deadline(ports.clock, 60_000);
      const isOwnWrite = isOfFile === true && !isProviderReview(decoded.review);
      const review = isOwnWrite ? { ...decoded.review, isOwnWrite } : decoded.review;
      return { answer: await judgeReview(endpoint, review, snapshot, ports, deadline), review };
    }
    case 'passed':
      return { answer: allowed, review: undefined };
    case 'malformed':
      return { answer: malformed(decoded.problem), review: undefined };
    case 'unreadable':
      return {
        answer: malformed({ code: 400, path: 'the request', text: decoded.refusal.message }),
        review: undefined,
      };
    default:
      return decoded satisfies never;
  }
}

const allRights: AccessReviewer = { mayDo: async () => await Promise.resolve('yes') };

/** The clock stands still and the budget counts work, so that the answer does not depend on the speed of the machine. */
function portsOf({ snapshot, install, access = allRights, now, trace }: WriteSetup): Judging {
  const clock = { now: () => now, monotonic: () => 0 };
  return {
    namespaces: { find: (name) => Promise.resolve(snapshot.namespace(name)) },
    access,
    clock,
    evaluationUnits: defaultEvaluationUnits,
    longDecisions: new LongDecisions(clock),
    install,
    ...(trace !== undefined && { trace }),
  };
}
