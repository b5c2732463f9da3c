// The first state as the beginning of a watch, and lists in pages from servers that do not stream.
import { expect, test } from 'vitest';
import { CollectionReader } from '../../../../src/kube/watch/collection-reader.ts';
import {
  FakeApiServer,
  FakeStream,
  networkError,
  refusal,
  stream,
} from '../../../support/fake-api-server.ts';
import type { Answer } from '../../../support/fake-api-server.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import {
  added,
  answers,
  at,
  bookmark,
  deleted,
  errorLine,
  line,
  listed,
  modified,
  open,
  RecordingSink,
  run,
} from './list-watch-harness.ts';

const initialEnd = (version: number): string => {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return line('BOOKMARK', { kind: 'Secret', metadata: { resourceVersion: String(version), annotations } });
};

function streamed(...scripted: readonly Answer[]) {
  const sink = new RecordingSink();
  return { ...run(answers(...scripted), sink, { streamsLists: true }), delivered: sink.delivered };
}

function secretsReader(server: FakeApiServer, clock: VirtualClock): CollectionReader {
  const { signal } = new AbortController();
  return new CollectionReader(
    server,
    { path: '/api/v1/secrets' },
    { clock, signal: () => signal, streamsLists: true },
  );
}

test('the first state is the beginning of a watch, which goes on', async () => {
  const chunks = [added('a', 1), bookmark(5), added('b', 2), initialEnd(9), modified('a', 10)];
  const { time, health, asked, delivered, server } = streamed(stream(chunks));
  await time.settle();
  expect([asked(), delivered]).toEqual([['watch ?'], ['all at 9: a:1 b:2', '+a:10']]);
  expect(health.isSynced).toBe(true);
  expect(server.requests[0]?.query).toMatchObject({
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: 'true',
  });
});

test('an object that changes or goes while the state is sent counts as it is at the end', async () => {
  const chunks = [added('a', 1), added('b', 2), modified('a', 8), deleted('b', 9), initialEnd(9)];
  const { time, delivered } = streamed(stream(chunks));
  await time.settle();
  expect(delivered).toEqual(['all at 9: a:8']);
});

test('nothing is delivered before the state is complete', async () => {
  const { time, health, delivered } = streamed(stream([added('a', 1), bookmark(9)]));
  await time.settle();
  expect([health.isSynced, delivered]).toEqual([false, []]);
});

test('the watch after a streamed state continues from the last version', async () => {
  const { time, asked } = streamed(stream([initialEnd(9), added('a', 12)], 'end'), open);
  await time.advance(10_000);
  expect(asked()).toEqual(['watch ?', 'watch 12']);
});

test('a state that is needed again is streamed again', async () => {
  const { time, asked, delivered } = streamed(
    stream([initialEnd(9), errorLine(410, 'Expired')]),
    stream([added('a', 20), initialEnd(30)]),
  );
  await time.advance(10_000);
  expect([asked(), delivered]).toEqual([
    ['watch ?', 'watch ?'],
    ['all at 9:', 'all at 30: a:20'],
  ]);
});

test.each([400, 405, 406, 422])(
  'a server that refuses to stream with %d is not asked again',
  async (code) => {
    const { time, asked } = streamed(
      refusal(code, 'Reason'),
      listed,
      stream([errorLine(410, 'Expired')]),
      listed,
      open,
    );
    await time.advance(10_000);
    expect(asked()).toEqual(['watch ?', 'list', 'watch 10', 'list', 'watch 10']);
  },
);

test.each([
  ['ends too early', stream([added('a', 1)], 'end')],
  ['fails', stream([added('a', 1), errorLine(500, 'InternalError')])],
  ['cannot be read', stream(['{\n'])],
  ['is silent', stream([])],
])('where a streamed state %s, pages are read', async (_, first) => {
  const { time, asked, delivered } = streamed(first, listed, open);
  await time.advance(91_000);
  expect(asked().slice(0, 3)).toEqual(['watch ?', 'list', 'watch 10']);
  expect(delivered).toEqual(['all at 10: a:1']);
});

test('a streamed state that fails is closed before pages are read', async () => {
  const failing = stream([errorLine(500, 'InternalError')]);
  const isFirstClosed: (boolean | undefined)[] = [];
  const { time, server } = run(
    (_, index) => {
      if (index === 1) isFirstClosed.push(server.requests[0]?.signal?.aborted);
      return [failing, listed][index] ?? open;
    },
    new RecordingSink(),
    { streamsLists: true },
  );
  await time.advance(1000);
  expect(isFirstClosed).toEqual([true]);
});

test('a watch that is cut right after the state does not lengthen the waits for a server that is gone', async () => {
  const gone = refusal(0, 'ECONNREFUSED');
  const answered = [at(9), stream([initialEnd(9)])];
  const { time, interruptions } = streamed(stream([initialEnd(9)], networkError()), gone, gone, ...answered);
  await time.advance(10_000);
  const retries = interruptions.map((text) => Number(text.split(': ')[1]));
  const [cut, first = 0, second = 0] = retries;
  expect([retries.length, cut]).toEqual([3, first]);
  expect(second).toBeGreaterThan(first);
});

test.each([401, 403, 404, 429, 503])('after an answer %d, pages would get the same answer', async (code) => {
  const { time, asked, interruptions } = streamed(refusal(code, 'Reason'), stream([initialEnd(9)]));
  await time.advance(10_000);
  expect(asked()).toEqual(['watch ?', 'watch ?']);
  expect(interruptions[0]).toMatch(new RegExp(`^list ${code} `));
});

test('a stop while the state is sent ends the list-watch', async () => {
  const { time, health, asked, delivered } = streamed(stream([added('a', 1)]));
  await time.settle();
  health.stop();
  await health.stopped;
  expect([asked(), delivered]).toEqual([['watch ?'], []]);
});

test.each([
  ['as they arrive', [stream([added('a', 1), added('b', 2), initialEnd(9)])], ['a', 'b'], 1],
  ['from pages where streams are refused', [refusal(422, 'Invalid'), listed], ['a'], 2],
  ['again from pages after half a stream', [stream([added('a', 1)], 'end'), listed], ['a', 'a'], 2],
])('all objects are read %s', async (_, scripted: readonly Answer[], names, requests) => {
  const clock = new VirtualClock();
  const server = new FakeApiServer(clock, answers(...scripted));
  const reader = secretsReader(server, clock);
  const read: (string | undefined)[] = [];
  for await (const { metadata } of reader.objects()) read.push(metadata.name);
  expect([read, server.requests.length]).toEqual([names, requests]);
});

test('where bookmarks come but no end of the state, pages are read after ten seconds, and from then on', async () => {
  const first = new FakeStream();
  first.send(added('a', 1));
  const expired = stream([errorLine(410, 'Expired')]);
  const { time, health, asked, interruptions } = streamed(
    { kind: 'stream', stream: first },
    listed,
    expired,
    listed,
    open,
  );
  for (let passed = 0; passed < 9000; passed += 3000) {
    await time.advance(3000);
    first.send(bookmark(5 + passed));
    await time.settle();
  }
  expect(asked()).toEqual(['watch ?']);
  await time.advance(20_000);
  expect(health.isSynced).toBe(true);
  expect(asked()).toEqual(['watch ?', 'list', 'watch 10', 'list', 'watch 10']);
  expect(interruptions[0]).toBe('list 0 Stalled: 0');
});

test('a state that is sent slowly is read to its end, and its objects count as a sign of life', async () => {
  const slow = new FakeStream();
  const { time, health, asked } = streamed({ kind: 'stream', stream: slow }, open);
  for (let index = 0; index < 30; index += 1) {
    slow.send(added(`n${index}`, index));
    await time.advance(9000);
    expect(health.silentMs).toBeLessThan(10_000);
  }
  slow.send(initialEnd(90));
  await time.advance(60_000);
  expect([asked(), health.isSynced]).toEqual([['watch ?'], true]);
});

test('a reader of objects that takes long is no sign that the end is missing', async () => {
  const clock = new VirtualClock();
  const chunks = [added('a', 1), added('b', 2), initialEnd(9)];
  const server = new FakeApiServer(clock, answers(stream(chunks)));
  const { signal } = new AbortController();
  const target = { path: '/api/v1/secrets' };
  const names: (string | undefined)[] = [];
  const reader = new CollectionReader(server, target, { clock, signal: () => signal, streamsLists: true });
  for await (const { metadata } of reader.objects()) {
    names.push(metadata.name);
    await clock.advance(60_000);
  }
  expect([names, server.requests.length]).toEqual([['a', 'b'], 1]);
});

test('objects are read from pages where the end of the state is missing', async () => {
  const clock = new VirtualClock();
  const server = new FakeApiServer(clock, answers(stream([added('a', 1)]), listed));
  const reader = secretsReader(server, clock);
  const names: (string | undefined)[] = [];
  const reading = (async () => {
    for await (const { metadata } of reader.objects()) names.push(metadata.name);
  })();
  await clock.advance(11_000);
  await reading;
  expect(names).toEqual(['a', 'a']);
});

test('a reader that is stopped reads no pages', async () => {
  const clock = new VirtualClock();
  const server = new FakeApiServer(clock, answers(stream([added('a', 1)]), listed));
  const abort = new AbortController();
  const options = { clock, signal: () => abort.signal, streamsLists: true };
  const reader = new CollectionReader(server, { path: '/api/v1/secrets' }, options);
  const reading = (async () => {
    for await (const _ of reader.objects()) abort.abort();
  })();
  await expect(reading).rejects.toThrow(/abort/i);
  expect(server.requests).toHaveLength(1);
});
