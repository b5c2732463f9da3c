// Answers one HTTP request to one endpoint: reads, decodes, lets it be judged, responds; and the last place for errors.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import { allowed, failedInside, malformed, type Answer, renderReview } from './answer.ts';
import type { ByteBudget, ByteLease } from './http/byte-budget.ts';
import { Deadline } from './http/deadline.ts';
import { decodeReview, type DecodedReview } from './decode/decode-review.ts';
import { serverError, notReady, timedOut, tooManyBytes, type HttpRefusal } from './http/http-refusal.ts';
import { judgeReview, type JudgePorts } from './judge-review.ts';
import type { AdmissionObserver, Endpoint, SnapshotSource } from './ports.ts';
import { readHead, readReviewBody } from './http/read-request.ts';
import { sendJson, sendRefusal } from './http/send.ts';
import type { ServerLimits } from './http/server-limits.ts';
import type { RequestSummary } from './decode/request-summary.ts';

export interface HandlerPorts extends JudgePorts {
  readonly snapshot: SnapshotSource;
  readonly observer: AdmissionObserver;
}

/** Of the time that the API server waits. An answer that gets there too late says less than one that says "too late". */
const shareForUs = 0.9;

/** Its promise never rejects. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

type Outcome =
  | { readonly kind: 'answered'; readonly summary: RequestSummary; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly refusal: HttpRefusal }
  | { readonly kind: 'gone' };

export function webhookHandler(
  endpoint: Endpoint,
  ports: HandlerPorts,
  limits: ServerLimits,
  bytes: ByteBudget,
): HttpHandler {
  const handler = new WebhookHandler(endpoint, ports, limits, bytes);
  return (request, response) => handler.handle(request, response);
}

class WebhookHandler {
  readonly #endpoint: Endpoint;
  readonly #ports: HandlerPorts;
  readonly #limits: ServerLimits;
  readonly #bytes: ByteBudget;

  constructor(endpoint: Endpoint, ports: HandlerPorts, limits: ServerLimits, bytes: ByteBudget) {
    this.#endpoint = endpoint;
    this.#ports = ports;
    this.#limits = limits;
    this.#bytes = bytes;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { observer, clock } = this.#ports;
    const began = clock.monotonic();
    const lease = this.#bytes.open();
    observer.began();
    try {
      const outcome = await this.#outcomeOf(request, response, lease);
      respond(request, response, outcome);
      this.#observe(outcome, clock.monotonic() - began);
    } catch (error) {
      observer.failed(error);
      sendRefusal(request, response, serverError);
    } finally {
      lease.close();
      observer.ended();
    }
  }

  async #outcomeOf(request: IncomingMessage, response: ServerResponse, lease: ByteLease): Promise<Outcome> {
    const head = readHead(request, this.#limits);
    if (!head.ok) return refused(head.refusal);
    const snapshot = this.#ports.snapshot();
    if (snapshot === undefined) return refused(notReady);
    if (!this.#bytes.hasRoomFor(head.contentLength ?? 0)) return refused(tooManyBytes);
    const deadline = new Deadline(this.#ports.clock, head.timeoutMs * shareForUs);
    // Whoever asks before sending is told to go on only now, when nothing in the head speaks against it.
    if (request.headers.expect !== undefined) response.writeContinue();
    const received = await readReviewBody(request, lease, this.#limits.bodyBytes, deadline);
    if (received.kind !== 'body') return received;
    if (deadline.isOver) return refused(timedOut);
    return await this.#answerTo(decodeReview(received.bytes, this.#endpoint), snapshot, deadline);
  }

  async #answerTo(decoded: DecodedReview, snapshot: ClusterSnapshot, deadline: Deadline): Promise<Outcome> {
    switch (decoded.kind) {
      case 'unreadable':
        return refused(decoded.refusal);
      case 'malformed':
        return answered(decoded.summary, malformed(decoded.problem));
      case 'passed':
        return answered(decoded.summary, allowed);
      case 'review':
        return await this.#judge(decoded, snapshot, deadline);
      default:
        return decoded satisfies never;
    }
  }

  /** An error of ours refuses inside the review: outside of it, a failurePolicy of Ignore would let the object in. */
  async #judge(
    { summary, review }: DecodedReview & { kind: 'review' },
    snapshot: ClusterSnapshot,
    deadline: Deadline,
  ): Promise<Outcome> {
    try {
      return answered(summary, await judgeReview(this.#endpoint, review, snapshot, this.#ports, deadline));
    } catch (error) {
      this.#ports.observer.failed(error);
      return answered(summary, failedInside);
    }
  }

  #observe(outcome: Outcome, milliseconds: number): void {
    const { observer } = this.#ports;
    switch (outcome.kind) {
      case 'gone':
        observer.refusedTransport(499, 'ClientGone');
        return;
      case 'refused':
        observer.refusedTransport(outcome.refusal.code, outcome.refusal.reason);
        return;
      case 'answered': {
        const { decision, overBudget, policies, rules, refusal, warnings, patch } = outcome.answer;
        const endpoint = this.#endpoint;
        observer.decided({
          endpoint,
          ...outcome.summary,
          decision,
          overBudget,
          policies,
          rules,
          milliseconds,
          explanation: { refusal: refusal?.message, warnings, patch },
        });
        return;
      }
      default:
        outcome satisfies never;
    }
  }
}

function respond(request: IncomingMessage, response: ServerResponse, outcome: Outcome): void {
  if (outcome.kind === 'refused') sendRefusal(request, response, outcome.refusal);
  else if (outcome.kind === 'answered' && !response.destroyed) {
    sendJson(response, renderReview(outcome.summary, outcome.answer));
  }
}

function answered(summary: RequestSummary, answer: Answer): Outcome {
  return { kind: 'answered', summary, answer };
}

function refused(refusal: HttpRefusal): Outcome {
  return { kind: 'refused', refusal };
}
