// Checks when a list-watch is healthy, how it stops, and that it reports errors of the program.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { WatchSink } from '../../../../src/base/watch-sink.ts';
import { listWatch } from '../../../../src/kube/watch/list-watch.ts';
import { FakeStream, networkError, refusal, silence, stream } from '../../../support/fake-api-server.ts';
import type { Script } from '../../../support/fake-api-server.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import {
  RecordingSink,
  added,
  answers,
  bookmark,
  deleted,
  list,
  listed,
  open,
  run,
} from './list-watch-harness.ts';

describe('health', () => {
  test('a list-watch is unhealthy after lists fail for long, and healthy again with the first page', async () => {
    let isUp = false;
    const script: Script = ({ query }) => {
      if (!isUp) return refusal(0, 'ECONNREFUSED');
      return query?.['watch'] === undefined ? list(10, []) : stream([]);
    };
    const { time, health } = run(script, new RecordingSink());
    await time.advance(180_000);
    expect([health.isHealthy(), health.isSynced]).toEqual([true, false]);
    await time.advance(1);
    expect(health.isHealthy()).toBe(false);
    isUp = true;
    await time.advance(30_000);
    expect([health.isHealthy(), health.isSynced]).toEqual([true, true]);
    await health.synced;
  });

  test('a list-watch stays healthy while bookmarks arrive', async () => {
    const watch = new FakeStream();
    const { time, health, asked } = run(
      answers(listed, { kind: 'stream', stream: watch }),
      new RecordingSink(),
    );
    for (let version = 11; version < 40; version += 1) {
      await time.advance(60_000);
      expect(health.silentMs).toBe(60_000);
      watch.send(bookmark(version));
    }
    expect([health.isHealthy(), asked()]).toEqual([true, ['list', 'watch 10']]);
  });

  test('a silent watch leads to a list, and a list-watch is unhealthy when that has no answer', async () => {
    const { time, health, asked, interruptions } = run(answers(listed, open), new RecordingSink());
    await time.advance(89_999);
    expect(asked()).toEqual(['list', 'watch 10']);
    await time.advance(1000);
    expect([health.isHealthy(), asked()]).toEqual([true, ['list', 'watch 10', 'list']]);
    await time.advance(91_000);
    expect([health.isHealthy(), asked().slice(3)]).toEqual([false, ['list']]);
    expect(interruptions[0]).toBe('watch 0 Stalled: 200');
  });

  test('a list-watch of a kind that is not served is healthy, and watches the kind when it is back', async () => {
    let isServed = true;
    const script: Script = ({ query }) => {
      if (!isServed) return refusal(404, 'NotFound');
      return query?.['watch'] === undefined ? listed : stream([], 'end');
    };
    const sink = new RecordingSink();
    const { time, health } = run(script, sink);
    await time.advance(1000);
    isServed = false;
    await time.advance(600_000);
    expect([health.isHealthy(), health.silentMs <= 30_000]).toEqual([true, true]);
    isServed = true;
    await time.advance(30_000);
    expect(sink.delivered.at(-1)).toBe('all at 10: a:1');
  });
});

test.for([
  ['during a list', () => silence],
  ['during back-off', () => refusal(500, 'InternalError')],
  ['before a watch is open', ({ query }) => (query?.['watch'] === undefined ? list(10, []) : silence)],
  ['during a watch', ({ query }) => (query?.['watch'] === undefined ? list(10, []) : stream([]))],
] satisfies [string, Script][])('stop %s ends all requests and waits at once', async ([, script]) => {
  const { time, health, server, interruptions } = run(script, new RecordingSink());
  await time.advance(100);
  const before = [server.requests.length, interruptions.length];
  health.stop();
  await health.stopped;
  expect(time.sleeping).toEqual([]);
  await time.advance(600_000);
  expect([server.requests.length, interruptions.length]).toEqual(before);
});

test('a list that arrives after stop is not delivered', async () => {
  const sink = new RecordingSink();
  const time = new VirtualClock();
  const page = Promise.withResolvers<JsonObject>();
  const deaf = {
    request: () => page.promise,
    stream: () => Promise.reject(networkError()),
    close: () => undefined,
  };
  const clock = { monotonic: () => time.monotonic(), random: () => 0, sleep: () => Promise.resolve() };
  const health = listWatch(deaf, { path: '/api/v1/secrets' }, sink, { clock });
  health.stop();
  page.resolve({ apiVersion: 'v1', kind: 'SecretList', metadata: { resourceVersion: '1' } });
  await health.stopped;
  expect([...sink.delivered, health.isSynced]).toEqual([false]);
});

test('an event that arrived before stop is not delivered after it', async () => {
  const sink = new RecordingSink();
  const stopping: WatchSink = {
    replaced: (objects, version) => sink.replaced(objects, version),
    changed: (object) => {
      sink.changed(object);
      running.health.stop();
    },
    removed: (object) => sink.removed(object),
  };
  const running = run(answers(listed, stream([added('b', 11) + added('c', 12)])), stopping);
  await running.time.settle();
  await running.health.stopped;
  expect(sink.delivered).toEqual(['all at 10: a:1', '+b:11']);
});

test.for(['replaced', 'changed', 'removed', 'onInterruption'] as const)(
  'an exception of %s rejects stopped',
  async (method) => {
    const mistake = new Error('an error of the program');
    const fail = (): never => {
      throw mistake;
    };
    const sink = Object.assign(new RecordingSink(), method === 'onInterruption' ? {} : { [method]: fail });
    const script = answers(listed, stream([added('b', 11), deleted('b', 12)], networkError()));
    const { time, health } = run(script, sink, method === 'onInterruption' ? { onInterruption: fail } : {});
    const caught = health.stopped.then(
      () => 'nothing',
      (error: unknown) => error,
    );
    await time.advance(1000);
    expect([await caught, ...time.sleeping]).toEqual([mistake]);
  },
);
