// A server that leaves fails no request: not those under way, not those on kept connections, not those of late clients.
import { expect, test } from 'vitest';
import { drain } from '../../src/admission/http/webhook-server.ts';
import type { KubeObject } from '../../src/base/metadata.ts';
import { eventually } from '../support/eventually.ts';
import { namespaceObject, responseOf, reviewJson, secretObject } from '../support/reviews.ts';
import { snapshotOf } from '../support/engine.ts';
import { webhookOfEachTest } from '../support/test-webhook.ts';
import { openTls, parseAnswer, readAll } from '../support/tls-client.ts';

const startWebhook = webhookOfEachTest();
const good = reviewJson(namespaceObject('team-a'));
const post = `POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${good.length}\r\n\r\n`;
const unhurried = new AbortController().signal;

test('under load on kept connections, every request is answered until the listener closes', async () => {
  const target = await startWebhook(snapshotOf({}));
  const { client, webhook, limits } = target;
  const state = { isLeaving: false };
  const codes = new Map<number, number>();
  const failures: unknown[] = [];
  async function callForEver(): Promise<void> {
    // Clients stop when readiness says so, within the grace, as the API server does.
    while (!state.isLeaving) {
      try {
        const { code } = await client.post('/validate', good);
        codes.set(code, (codes.get(code) ?? 0) + 1);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  const callers = Array.from({ length: 20 }, callForEver);
  await eventually(() => codes.get(200) ?? 0).toBeGreaterThan(60);
  const hurry = new AbortController();
  const drained = drain(webhook, 600_000, limits, hurry.signal);
  const before = codes.get(200) ?? 0;
  await eventually(() => codes.get(200) ?? 0).toBeGreaterThan(before + 60);
  state.isLeaving = true;
  await Promise.all(callers);
  hurry.abort();
  await drained;
  expect(webhook.server.listening).toBe(false);
  expect(failures).toEqual([]);
  expect([...codes.keys()]).toEqual([200]);
});

test('requests in progress and requests whose body is incomplete are answered after the listener closes', async () => {
  const found = Promise.withResolvers<KubeObject | undefined>();
  const snapshot = snapshotOf({ secrets: { secrets: { maxBytes: 1 } } });
  const target = await startWebhook(snapshot, { namespaces: { find: () => found.promise } });
  const { client, webhook, limits, port, observer } = target;
  const judged = client.post('/validate', reviewJson(secretObject()));
  const sending = await openTls(port);
  const sent = readAll(sending);
  sending.write(post + good.slice(0, 50));
  await eventually(() => observer.inFlight).toBe(2);
  const drained = drain(webhook, 0, limits, unhurried);
  await eventually(() => webhook.server.listening).toBe(false);
  await expect(openTls(port)).rejects.toBeInstanceOf(Error);
  sending.write(good.slice(50));
  found.resolve(undefined);
  expect(responseOf((await judged).body).status?.code).toBe(503);
  const answer = parseAnswer(await sent);
  expect(answer.code).toBe(200);
  await drained;
  expect(observer.errors).toEqual([]);
});

test('idle connections are closed, and connections without a request do not delay the drain', async () => {
  const target = await startWebhook(snapshotOf({}));
  const idle = await openTls(target.port);
  const closed = readAll(idle);
  await drain(target.webhook, 0, target.limits, unhurried);
  expect(await closed).toBe('');
});

test('a signal ends the drain', async () => {
  const snapshot = snapshotOf({ secrets: { secrets: { maxBytes: 1 } } });
  const target = await startWebhook(snapshot, {
    namespaces: { find: () => new Promise(() => undefined) },
  });
  const stuck = target.client.post('/validate', reviewJson(secretObject())).catch((error: unknown) => error);
  await eventually(() => target.observer.inFlight).toBe(1);
  const hurry = new AbortController();
  const drained = drain(target.webhook, 600_000, target.limits, hurry.signal);
  hurry.abort();
  await drained;
  expect(await stuck).toBeInstanceOf(Error);
});
