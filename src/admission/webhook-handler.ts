// Answers one HTTP request to one endpoint: reads, decodes, lets it be judged, responds; and the last place for errors.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { allowed, failedInside, malformed } from './answer.ts';
import type { Answer } from './answer.ts';
import type { ByteBudget, ByteLease } from './byte-budget.ts';
import { Deadline } from './deadline.ts';
import { decodeReview } from './decode-review.ts';
import type { DecodedReview } from './decode-review.ts';
import { internalError, notReady, timedOut, tooManyBytes } from './http-refusal.ts';
import type { HttpRefusal } from './http-refusal.ts';
import { judgeReview } from './judge-review.ts';
import type { JudgePorts } from './judge-review.ts';
import type { AdmissionObserver, Endpoint, SnapshotSource } from './ports.ts';
import { readBody } from './read-body.ts';
import { readHead } from './request-head.ts';
import { renderReview } from './review-response.ts';
import { sendJson, sendRefusal } from './send.ts';
import type { ServerLimits } from './server-limits.ts';
import type { Subject } from './subject.ts';
import type { ClusterSnapshot } from '../policy/snapshot.ts';

export interface HandlerPorts extends JudgePorts {
  readonly snapshot: SnapshotSource;
  readonly observer: AdmissionObserver;
}

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

type Outcome =
  | { readonly kind: 'answered'; readonly subject: Subject; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly refusal: HttpRefusal }
  | { readonly kind: 'gone' };

/** The promise never rejects. */
export function webhookHandler(
  endpoint: Endpoint,
  ports: HandlerPorts,
  limits: ServerLimits,
  bytes: ByteBudget,
): HttpHandler {
  const { observer, clock } = ports;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = clock.monotonic();
    const lease = bytes.open();
    observer.began();
    try {
      const outcome = await outcomeOf(request, response, lease);
      respond(request, response, outcome);
      observe(outcome, clock.monotonic() - began);
    } catch (error) {
      observer.failed(error);
      sendRefusal(request, response, internalError);
    } finally {
      lease.close();
      observer.ended();
    }
  }

  async function outcomeOf(request: IncomingMessage, response: ServerResponse, lease: ByteLease): Promise<Outcome> {
    const head = readHead(request, limits);
    if (!head.ok) return refused(head.refusal);
    const snapshot = ports.snapshot();
    if (snapshot === undefined) return refused(notReady);
    if (!bytes.hasRoomFor(head.contentLength ?? 0)) return refused(tooManyBytes);
    const deadline = new Deadline(clock, head.timeoutMs);
    // Whoever asks before sending is told to go on only now, when nothing in the head speaks against it.
    if (request.headers.expect !== undefined) response.writeContinue();
    const received = await readBody(request, lease, limits.bodyBytes, deadline);
    if (received.kind !== 'body') return received;
    if (deadline.isOver) return refused(timedOut);
    return await answerTo(decodeReview(received.bytes, endpoint), snapshot, deadline);
  }

  async function answerTo(decoded: DecodedReview, snapshot: ClusterSnapshot, deadline: Deadline): Promise<Outcome> {
    switch (decoded.kind) {
      case 'unreadable':
        return refused(decoded.refusal);
      case 'faulty':
        return answered(decoded.subject, malformed(decoded.fault));
      case 'passed':
        return answered(decoded.subject, allowed);
      case 'review':
        return await judge(decoded, snapshot, deadline);
      default:
        return decoded satisfies never;
    }
  }

  /** An error of ours refuses inside the review: outside of it, a failurePolicy of Ignore would let the object in. */
  async function judge(
    { subject, review }: DecodedReview & { kind: 'review' },
    snapshot: ClusterSnapshot,
    deadline: Deadline,
  ): Promise<Outcome> {
    try {
      return answered(subject, await judgeReview(endpoint, review, snapshot, ports, deadline));
    } catch (error) {
      observer.failed(error);
      return answered(subject, failedInside);
    }
  }

  function observe(outcome: Outcome, milliseconds: number): void {
    if (outcome.kind === 'gone') observer.refusedTransport(499, 'ClientGone');
    else if (outcome.kind === 'refused') observer.refusedTransport(outcome.refusal.code, outcome.refusal.reason);
    else {
      const { decision, overBudget, policies, rules } = outcome.answer;
      observer.decided({ endpoint, ...outcome.subject, decision, overBudget, policies, rules, milliseconds });
    }
  }

  return handle;
}

function respond(request: IncomingMessage, response: ServerResponse, outcome: Outcome): void {
  if (outcome.kind === 'refused') sendRefusal(request, response, outcome.refusal);
  else if (outcome.kind === 'answered' && !response.destroyed) {
    sendJson(response, renderReview(outcome.subject, outcome.answer));
  }
}

function answered(subject: Subject, answer: Answer): Outcome {
  return { kind: 'answered', subject, answer };
}

function refused(refusal: HttpRefusal): Outcome {
  return { kind: 'refused', refusal };
}
