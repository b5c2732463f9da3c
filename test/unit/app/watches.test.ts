// What the end of a watch is counted as, that no word of a server gets into a label, and what watches tell each other.
import { expect, onTestFinished, test } from 'vitest';
import { interruptionReason, Watches } from '../../../src/app/watches.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import type { KubeRequest } from '../../../src/kube/http/client.ts';
import type { WatchTarget } from '../../../src/kube/watch/watch-target.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';
import { FakeApiServer, json, refusal, stream, type Answer } from '../../support/fake-api-server.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

test.each([
  [0, 'Stalled', 'Stalled'],
  [0, 'ClosedEarly', 'ClosedEarly'],
  [0, 'ECONNRESET', 'Disconnected'],
  [200, 'MalformedAnswer', 'MalformedAnswer'],
  [401, 'Unauthorized', 'Unauthorized'],
  [403, 'Forbidden', 'Forbidden'],
  [410, 'Gone', 'Expired'],
  [429, 'TooManyRequests', 'TooManyRequests'],
  [500, 'InternalError', 'ServerError'],
  [599, 'Whatever', 'ServerError'],
  [418, 'Whatever', 'Refused'],
])('a watch error %d %s is counted as %s', (code, reason, counted) => {
  expect(interruptionReason({ code, reason })).toBe(counted);
});

const secrets = '/api/v1/secrets';
const reports = '/apis/reports.example.com/v1/reports';

/** Three watches of lists at version 10. Each object on its own has version 1. */
async function threeWatches() {
  const delivered: string[] = [];
  const asked: string[] = [];
  const answer = ({ path, query }: KubeRequest): Answer => {
    if (query?.['sendInitialEvents'] !== undefined) return refusal(400, 'BadRequest');
    if (query?.['watch'] !== undefined) return stream([]);
    if (path.endsWith('/a')) {
      asked.push(path);
      return json({ metadata: { name: 'a', uid: 'u', resourceVersion: '1' } });
    }
    return json({ apiVersion: 'v1', kind: 'ThingList', metadata: { resourceVersion: '10' } });
  };
  const nothing = (): void => undefined;
  const texts = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const log = { ...texts, close: () => Promise.resolve(), dropped: () => 0 };
  const client = new FakeApiServer(new VirtualClock(), answer);
  const watches = new Watches(client, log, new MetricsRegistry(), nothing);
  onTestFinished(() => watches.stop());
  const sinkOf = (name: string) => ({
    replaced: (_: unknown, _version: string, isRestored = false) =>
      void delivered.push(isRestored ? `${name} restored` : name),
    changed: (object: KubeObject) => void delivered.push(`${name} +${object.metadata.name}`),
    removed: nothing,
  });
  const targets: readonly WatchTarget[] = [
    { path: secrets, fieldSelector: 'metadata.name=a' },
    { path: secrets, fieldSelector: 'metadata.name=b' },
    { path: reports },
  ];
  const started = targets.map((target) => watches.start(target, sinkOf(target.fieldSelector ?? 'reports')));
  await Promise.all(started.map(({ synced }) => synced));
  return { watches, asked, news: () => delivered.splice(0).toSorted() };
}

const secretA = { apiVersion: 'v1', plural: 'secrets', namespace: 'x', name: 'a' };
const reportA = { ...secretA, apiVersion: 'reports.example.com/v1', plural: 'reports' };

test('an object is read again by the watch that covers it alone', async () => {
  const { watches, asked, news } = await threeWatches();
  news();
  await watches.reread(secretA, '1');
  expect([asked, news()]).toEqual([['/api/v1/namespaces/x/secrets/a'], ['metadata.name=a +a']]);
});

test('a restore that one watch notices makes all watches list again', async () => {
  const { watches, news } = await threeWatches();
  news();
  await watches.reread(secretA, '5');
  await settled();
  expect(news()).toEqual(['metadata.name=a restored', 'metadata.name=b restored', 'reports restored']);
});

test('a server of another program that goes back says nothing about the other kinds', async () => {
  const { watches, news } = await threeWatches();
  news();
  await watches.reread(reportA, '5');
  await settled();
  expect(news()).toEqual(['reports restored']);
});

/** Lets everything happen that needs no time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}
