// Handles one HTTP request to one endpoint: reads, decodes, judges, responds, and catches every error.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import { allowed, failedInside, malformed, type Answer, renderReview } from './answer.ts';
import { isProviderReview, type AnyReview, type ProviderReview } from '../policy/terms/review.ts';
import {
  type ByteBudget,
  type ByteLease,
  arrivedBody,
  readHead,
  readReviewBody,
  AnswerQueue,
  sendJson,
  sendRefusal,
} from './http/exchange.ts';
import { Deadline } from '../base/clock.ts';
import { decodeReview, type DecodedReview } from './decode/decode-review.ts';
import {
  serverError,
  notReady,
  timedOut,
  tooManyBytes,
  type HttpRefusal,
  type ServerLimits,
} from './http/limits.ts';
import { judgeReview, type JudgePorts, type Judging } from './judge-review.ts';
import { LongDecisions } from './long-decisions.ts';
import type { AdmissionObserver, Endpoint, SnapshotSource } from './ports.ts';
import type { RequestSummary } from './decode/decode-envelope.ts';
import { isJsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';

export interface HandlerPorts extends JudgePorts {
  readonly snapshot: SnapshotSource;
  readonly observer: AdmissionObserver;
}

/** The part of the API server's timeout that Reeve uses. An answer in time, even "too late", says more than a timeout. */
const timeoutShare = 0.9;

/** Answers one request. The promise never rejects. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

type Handled =
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
  readonly #ports: HandlerPorts & Judging;
  readonly #limits: ServerLimits;
  readonly #bytes: ByteBudget;
  readonly #answers: AnswerQueue;

  constructor(endpoint: Endpoint, ports: HandlerPorts, limits: ServerLimits, bytes: ByteBudget) {
    this.#endpoint = endpoint;
    this.#ports = { ...ports, longDecisions: new LongDecisions(ports.clock) };
    this.#answers = new AnswerQueue(ports.clock);
    this.#limits = limits;
    this.#bytes = bytes;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { observer, clock } = this.#ports;
    const failed = (error: unknown): void => {
      observer.failed(error);
      sendRefusal(request, response, serverError);
    };
    const began = clock.monotonic();
    const lease = this.#bytes.open();
    observer.began();
    try {
      const handled = await this.#handled(request, response, lease);
      // Until Node has noticed the end of the body, a refusal would close the connection.
      if (handled.kind === 'refused') await nextTurn();
      const respond = this.#respond(request, response, handled);
      const sent = (): void => this.#observe(handled, clock.monotonic() - began);
      if (handled.kind === 'answered') this.#answers.add({ send: respond, sent, failed });
      else {
        respond();
        sent();
      }
    } catch (error) {
      failed(error);
    } finally {
      lease.close();
      observer.ended();
    }
  }

  async #handled(request: IncomingMessage, response: ServerResponse, lease: ByteLease): Promise<Handled> {
    const head = readHead(request, this.#limits);
    if (!head.ok) return refused(head.refusal);
    const snapshot = this.#ports.snapshot();
    if (snapshot === undefined) return refused(notReady);
    if (!this.#bytes.hasRoomFor(head.contentLength ?? 0)) return refused(tooManyBytes);
    const deadline = new Deadline(this.#ports.clock, head.timeoutMs * timeoutShare);
    // A client with `Expect: 100-continue` sends its body only now, after the headers were accepted. RFC 9110, section 10.1.1,
    // ignores the header of an HTTP/1.0 client, which knows no interim answer.
    if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
    await Promise.resolve(); // See `arrivedBody`.
    const received =
      arrivedBody(request, head.contentLength, lease) ??
      (await readReviewBody(request, lease, this.#limits.bodyBytes, deadline));
    if (received.kind !== 'body') return received;
    if (deadline.isOver) return refused(timedOut);
    return this.#answerTo(decodeReview(received.bytes, this.#endpoint), snapshot, deadline);
  }

  #answerTo(
    decoded: DecodedReview,
    snapshot: ClusterSnapshot,
    deadline: Deadline,
  ): Handled | Promise<Handled> {
    switch (decoded.kind) {
      case 'unreadable':
        return refused(decoded.refusal);
      case 'malformed':
        return answered(decoded.summary, malformed(decoded.problem));
      case 'passed':
        return answered(decoded.summary, allowed);
      case 'review':
        return this.#judge(decoded, snapshot, deadline);
      default:
        return decoded satisfies never;
    }
  }

  /** An internal error is a refusal inside the review: an HTTP error under failurePolicy Ignore would allow the object. */
  #judge(
    { summary, review }: DecodedReview & { kind: 'review' },
    snapshot: ClusterSnapshot,
    deadline: Deadline,
  ): Handled | Promise<Handled> {
    const failed = (error: unknown): Handled => {
      this.#ports.observer.failed(error);
      return answered(summary, failedInside);
    };
    try {
      const answer = this.#answerOf(review, snapshot, deadline);
      return answer instanceof Promise
        ? answer.then((later) => answered(summary, later)).catch(failed)
        : answered(summary, answer);
    } catch (error) {
      return failed(error);
    }
  }

  #answerOf(review: AnyReview, snapshot: ClusterSnapshot, deadline: Deadline): Answer | Promise<Answer> {
    const [endpoint, ports] = [this.#endpoint, this.#ports];
    // Without a cluster the snapshot comes from files, so no watch can report an intent.
    return endpoint === 'validate' && ports.ownAccount !== undefined && isProviderReview(review)
      ? withNamedIntents(review, snapshot, ports.snapshot, deadline).then((current) =>
          judgeReview(endpoint, review, current, ports, deadline),
        )
      : judgeReview(endpoint, review, snapshot, ports, deadline);
  }

  /** Returns what sends the response. */
  #respond(request: IncomingMessage, response: ServerResponse, handled: Handled): () => void {
    switch (handled.kind) {
      case 'gone':
        return () => undefined;
      case 'refused':
        return () => sendRefusal(request, response, handled.refusal);
      case 'answered': {
        const body = renderReview(handled.summary, handled.answer);
        return () => sendJson(response, body);
      }
      default:
        return handled satisfies never;
    }
  }

  #observe(handled: Handled, milliseconds: number): void {
    const { observer } = this.#ports;
    switch (handled.kind) {
      case 'gone':
        observer.refusedTransport(499, 'ClientGone');
        return;
      case 'refused':
        observer.refusedTransport(handled.refusal.code, handled.refusal.reason);
        return;
      case 'answered': {
        const { decision, overBudget, unjudged, policies, rules, refusal, warnings, patch } = handled.answer;
        const endpoint = this.#endpoint;
        observer.decided({
          endpoint,
          ...handled.summary,
          decision,
          overBudget,
          unjudged,
          policies,
          rules,
          milliseconds,
          explanation: { refusal: refusal?.message, warnings, patch },
        });
        return;
      }
      default:
        handled satisfies never;
    }
  }
}

function answered(summary: RequestSummary, answer: Answer): Handled {
  return { kind: 'answered', summary, answer };
}

function refused(refusal: HttpRefusal): Handled {
  return { kind: 'refused', refusal };
}

// Waits a moment for the intents that a binding names. One file can hold both, and the watch reports an intent a little later.

const pollMs = 20;
const maxWaitMs = 500;
/** The rest of the time is for the decision. */
const waitingShare = 0.5;

/** Returns the newest snapshot. It lacks an intent that does not exist, or that the watch has not reported in half a second. */
export async function withNamedIntents(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  newest: SnapshotSource,
  deadline: Pick<Deadline, 'remaining'>,
): Promise<ClusterSnapshot> {
  const names = addedIntents(review);
  const { remaining } = deadline;
  const leftMs = remaining - Math.min(maxWaitMs, remaining * waitingShare);
  let current = snapshot;
  while (!hasAll(current, names) && deadline.remaining > leftMs) {
    await sleep(pollMs);
    current = newest() ?? current;
  }
  return current;
}

/** Returns the intents that the old binding did not name. Otherwise, each write of a binding with a missing intent would wait. */
function addedIntents({ resource, object, oldObject }: ProviderReview): readonly string[] {
  if (!resource.endsWith('bindings')) return [];
  const known = new Set(namedIntents(oldObject));
  return namedIntents(object).filter((name) => !known.has(name));
}

function namedIntents(binding: KubeObject | undefined): readonly string[] {
  const spec = binding?.['spec'];
  const intents = isJsonObject(spec) ? spec['intents'] : undefined;
  return Array.isArray(intents) ? intents.filter((name) => typeof name === 'string') : [];
}

function hasAll({ intents }: ClusterSnapshot, names: readonly string[]): boolean {
  return names.every((name) => intents.context.intents.has(name));
}
