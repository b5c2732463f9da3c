// A webhook on a real TLS socket. A test can replace its ports, and reads everything that the webhook reports.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ByteBudget } from '../../src/admission/http/exchange.ts';
import type { AdmissionObserver, DecisionRecord } from '../../src/admission/ports.ts';
import { serverLimits, type ServerLimits } from '../../src/admission/http/limits.ts';
import { webhookApp, WebhookServer, type TlsPair } from '../../src/admission/http/webhook-server.ts';
import { webhookHandler } from '../../src/admission/handler.ts';
import type { HandlerPorts } from '../../src/admission/handler.ts';
import { issueCertificates } from '../../src/certs/issue/issue.ts';
import type { ClusterSnapshot } from '../../src/policy/compile/snapshot.ts';
import { defaultEvaluationUnits } from '../../src/policy/terms/budget.ts';
import { testInstall } from './engine.ts';
import { HttpsClient } from './https-client.ts';
import { expect, onTestFinished } from 'vitest';
import { responseOf, testUid, type Response } from './reviews.ts';

class RecordingObserver implements AdmissionObserver {
  readonly decisions: DecisionRecord[] = [];
  readonly refusals: { readonly code: number; readonly reason: string }[] = [];
  readonly errors: unknown[] = [];
  inFlight = 0;

  decided(record: DecisionRecord): void {
    this.decisions.push(record);
  }

  refusedTransport(code: number, reason: string): void {
    this.refusals.push({ code, reason });
  }

  failed(error: unknown): void {
    this.errors.push(error);
  }

  began(): void {
    this.inFlight += 1;
  }

  ended(): void {
    this.inFlight -= 1;
  }
}

export interface TestWebhook {
  readonly webhook: WebhookServer;
  readonly limits: ServerLimits;
  readonly port: number;
  readonly client: HttpsClient;
  readonly observer: RecordingObserver;
  close(): Promise<void>;
}

export async function issueTestPair(): Promise<TlsPair> {
  const { serving } = await issueCertificates({
    namespace: 'reeve-system',
    now: new Date(),
    caLifetimeDays: 2,
    leafLifetimeDays: 1,
  });
  return { cert: serving.certPem, key: serving.keyPem };
}

/** Returns a function that starts a webhook and closes it after the test. All webhooks of a file have one certificate. */
export function webhookOfEachTest(): (
  ...given: Tail<Parameters<typeof startTestWebhook>>
) => Promise<TestWebhook> {
  let pair: TlsPair | undefined;
  return async (...given) => {
    pair ??= await issueTestPair();
    const target = await startTestWebhook(pair, ...given);
    onTestFinished(() => target.close());
    return target;
  };
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never;

/** Returns the review in the answer of a webhook, which is HTTP 200 and repeats the uid. */
export async function askedReview(target: TestWebhook, path: string, body: string): Promise<Response> {
  const answer = await target.client.post(path, body);
  expect(answer).toMatchObject({ code: 200, headers: { 'content-type': 'application/json' } });
  const response = responseOf(answer.body);
  expect(response.uid).toBe(testUid);
  return response;
}

export async function startTestWebhook(
  pair: TlsPair,
  snapshot: ClusterSnapshot | undefined,
  changes: Partial<HandlerPorts> = {},
  limitChanges: Partial<ServerLimits> = {},
): Promise<TestWebhook> {
  const observer = new RecordingObserver();
  const limits = { ...serverLimits, ...limitChanges };
  const ports: HandlerPorts = {
    snapshot: () => snapshot,
    namespaces: { find: () => Promise.resolve(undefined) },
    access: { mayDo: () => Promise.resolve('no') },
    clock: { now: () => new Date(), monotonic: () => performance.now() },
    // So long that no test depends on the speed of the machine.
    evaluationUnits: defaultEvaluationUnits,
    install: testInstall,
    observer,
    ...changes,
  };
  const bytes = new ByteBudget(limits.totalBodyBytes);
  const app = webhookApp(
    {
      validate: webhookHandler('validate', ports, limits, bytes),
      mutate: webhookHandler('mutate', ports, limits, bytes),
    },
    ports.observer,
  );
  const webhook = new WebhookServer(pair, app, limits, ports.observer);
  webhook.server.listen(0, '127.0.0.1');
  await once(webhook.server, 'listening');
  const { port } = webhook.server.address() as AddressInfo;
  const client = new HttpsClient(port);
  return {
    webhook,
    limits,
    port,
    client,
    observer,
    close: async () => {
      client.close();
      webhook.server.close();
      webhook.server.closeAllConnections();
      if (webhook.server.listening) await once(webhook.server, 'close');
    },
  };
}
