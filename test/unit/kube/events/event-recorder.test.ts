// An Event is created once and patched for each repeat, and callers never wait.
import { describe, expect, test } from 'vitest';
import type { KubeRequest } from '../../../../src/kube/http/client.ts';
import type { RecordedEvent } from '../../../../src/base/recorded-event.ts';
import { json, networkError, refusal } from '../../../support/fake-api-server.ts';
import { aboutSecret, aboutShare, begin, bodies, restored, secret, share } from './event-recorder-harness.ts';

function nameIn({ body }: KubeRequest): string {
  const { metadata } = body as { metadata: { name: string } };
  return metadata.name;
}

describe('the form of an Event', () => {
  test('an Event has the form of events.k8s.io/v1 and is in the namespace of its object', async () => {
    const { time, server, recorder } = begin();
    recorder.record(restored);
    await time.settle();
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        path: '/apis/events.k8s.io/v1/namespaces/team-a/events',
        query: { fieldManager: 'reeve' },
      },
    ]);
    const [body] = bodies(server);
    expect(body).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: expect.stringMatching(/^regcred\.[0-9a-f]+$/) as string, namespace: 'team-a' },
      eventTime: '2030-01-01T00:00:00.000000Z',
      reportingController: 'reeve.dev/reeve',
      reportingInstance: 'reeve-0',
      regarding: secret,
      related: share,
      type: 'Normal',
      reason: 'Restored',
      action: 'Restore',
      note: 'Put back what SecretShare/regcred provides.',
    });
  });

  test.for([
    ['a cluster-scoped object', aboutShare, 'default', share],
    ['a namespaced object', restored, 'team-a', secret],
  ] satisfies [string, RecordedEvent, string, object][])(
    'an Event about %s is in the namespace that the API server requires',
    async ([, event, namespace, regarding]) => {
      const { time, server, recorder } = begin();
      recorder.record(event);
      await time.settle();
      expect(server.requests[0]?.path).toBe(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
      expect(bodies(server)).toMatchObject([{ metadata: { namespace }, regarding }]);
    },
  );

  test.for([
    ['an ordinary name', 'reg.cred-1', /^reg\.cred-1\.[0-9a-f]{20,40}$/],
    ['a name that only RBAC allows', 'system:x', /^secret\.[0-9a-f]+$/],
    ['a name of the maximum length', 'a'.repeat(253), /^(?=.{253}$)a+\.[0-9a-f]+$/],
    ['a name with a dot where it is cut', `${'a'.repeat(222)}${'.b'.repeat(15)}`, /^(?!.*\.\.).{1,253}$/],
  ] as const)('an Event about an object with %s has a valid name', async ([, name, expected]) => {
    const { time, server, recorder } = begin();
    recorder.record({ ...restored, regarding: { ...secret, name } });
    await time.settle();
    expect(server.requests.map(nameIn)).toEqual([expect.stringMatching(expected)]);
  });

  test.for([
    ['x'.repeat(1024), 1024],
    ['x'.repeat(1025), 1024],
    ['€'.repeat(400), 1023],
    ['𝄞'.repeat(300), 1023],
  ] as const)(
    'the note of an Event has at most 1024 bytes and no half character (%#)',
    async ([note, bytes]) => {
      const { time, server, recorder } = begin();
      recorder.record({ ...restored, note });
      await time.settle();
      const written = String(bodies(server)[0]?.['note']);
      expect([Buffer.byteLength(written), written.includes('\uFFFD')]).toEqual([bytes, false]);
    },
  );
});

describe('a repeated event', () => {
  test('each repeat patches the series of the Event that was created', async () => {
    const { time, server, recorder } = begin();
    for (let second = 0; second < 3; second += 1) {
      recorder.record({ ...restored });
      await time.advance(1000);
    }
    const [created, ...patches] = server.requests;
    const name = created === undefined ? '' : nameIn(created);
    expect(created).toMatchObject({ method: 'POST' });
    expect(patches).toMatchObject([
      {
        method: 'PATCH',
        path: `/apis/events.k8s.io/v1/namespaces/team-a/events/${name}`,
        query: { fieldManager: 'reeve' },
        contentType: 'application/merge-patch+json',
        body: { series: { count: 2, lastObservedTime: '2030-01-01T00:00:01.000000Z' } },
      },
      { body: { series: { count: 3, lastObservedTime: '2030-01-01T00:00:02.000000Z' } } },
    ]);
    expect(time.sleeping).toEqual([]);
  });

  test('all repeats during one request become one patch', async () => {
    const { time, server, recorder } = begin(async () => {
      await time.sleep(500);
      return json({});
    });
    for (let repeat = 0; repeat < 20; repeat += 1) {
      recorder.record(restored);
      await time.advance(10);
    }
    await time.advance(70_000);
    expect(bodies(server)).toMatchObject([{ metadata: {} }, { series: { count: 20 } }]);
  });

  test('repeats before the Event was created are in it from the start', async () => {
    let isUp = false;
    const { time, server, recorder } = begin(() => (isUp ? json({}) : refusal(0, 'ECONNREFUSED')));
    recorder.record(restored);
    await time.advance(1000);
    recorder.record(restored);
    isUp = true;
    await time.advance(60_000);
    expect(bodies(server).at(-1)).toMatchObject({
      eventTime: '2030-01-01T00:00:00.000000Z',
      series: { count: 2, lastObservedTime: '2030-01-01T00:00:01.000000Z' },
    });
  });

  test('an event that is no longer remembered becomes a new Event', async () => {
    const { time, server, recorder } = begin();
    const record = async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index += 500) {
        for (let each = index; each < Math.min(index + 500, to); each += 1)
          recorder.record(aboutSecret(each));
        await recorder.flush();
      }
    };
    await record(0, 4096);
    await record(0, 1);
    await record(4096, 4097);
    // The repeat made event 0 the most recent, so event 1 was forgotten.
    await record(0, 2);
    expect(server.requests.slice(4096).map(({ method }) => method)).toEqual([
      'PATCH',
      'POST',
      'PATCH',
      'POST',
    ]);
    expect(time.sleeping).toEqual([]);
  });

  test.for([
    ['object', { regarding: { ...secret, uid: 'another' } }],
    ['related object', { related: { ...share, uid: 'another' } }],
    ['reason', { reason: 'Deleted' }],
    ['action', { action: 'Delete' }],
    ['type', { type: 'Warning' }],
    ['note', { note: 'Another.' }],
  ] satisfies [string, Partial<RecordedEvent>][])(
    'two events that differ in the %s are not the same event',
    async ([, difference]) => {
      const { time, server, recorder } = begin();
      recorder.record(restored);
      recorder.record({ ...restored, ...difference });
      await time.settle();
      expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
    },
  );
});

test('flush writes the events that were recorded, and nothing without an event', async () => {
  const { server, recorder } = begin();
  await recorder.flush();
  recorder.record(restored);
  await recorder.flush();
  expect(server.requests.map(({ method }) => method)).toEqual(['POST']);
});

describe('errors of the API server', () => {
  test('an Event that the server refuses is not sent again, and the drop is reported', async () => {
    const { time, server, recorder, drops } = begin(() => refusal(403, 'Forbidden'));
    recorder.record(restored);
    await time.advance(50_000);
    expect([server.requests.length, ...drops]).toEqual([1, 'refused']);
  });

  test('a server that is down for a while gets all events afterwards', async () => {
    let isUp = false;
    const { time, server, recorder, drops } = begin(() => (isUp ? json({}) : refusal(0, 'ECONNREFUSED')));
    recorder.record(restored);
    recorder.record(aboutShare);
    await time.advance(20_000);
    const before = server.requests.length;
    isUp = true;
    await time.advance(30_000);
    expect([server.requests.length - before, drops]).toEqual([2, []]);
  });

  test('an event is dropped when the server is down for too long', async () => {
    const { time, recorder, drops } = begin(() => refusal(0, 'ECONNREFUSED'));
    recorder.record(restored);
    await time.advance(600_000);
    expect([...drops, ...time.sleeping]).toEqual(['unreachable']);
  });

  test('a busy server gets the time that it requires', async () => {
    const answers = [refusal(429, 'TooManyRequests', { retryAfterMs: 9000 })];
    const { time, server, recorder } = begin(() => answers.shift() ?? json({}));
    recorder.record(restored);
    await time.advance(8999);
    expect(server.requests).toHaveLength(1);
    await time.advance(4000);
    expect(server.requests).toHaveLength(2);
  });

  test('an Event whose answer was lost is not created twice', async () => {
    const answers = [{ kind: 'error', error: networkError() } as const, refusal(409, 'AlreadyExists')];
    const { time, server, recorder, drops } = begin(() => answers.shift() ?? json({}));
    recorder.record(restored);
    await time.advance(60_000);
    expect([server.requests.map(nameIn).length, new Set(server.requests.map(nameIn)).size, drops]).toEqual([
      2,
      1,
      [],
    ]);
  });

  test('an Event that expired on the server is created again, under another name and with its own count', async () => {
    const { time, server, recorder, drops } = begin(({ method }) =>
      method === 'PATCH' ? refusal(404, 'NotFound') : json({}),
    );
    recorder.record(restored);
    await time.advance(1000);
    recorder.record(restored);
    await time.settle();
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    expect(bodies(server).at(-1)).toMatchObject({ eventTime: '2030-01-01T00:00:01.000000Z' });
    expect(bodies(server).at(-1)).not.toHaveProperty('series');
    const created = server.requests.filter(({ method }) => method === 'POST').map(nameIn);
    expect([new Set(created).size, drops]).toEqual([2, []]);
  });
});

test('events wait while the process is busy, but for five seconds at most', async () => {
  let isBusy = true;
  const { time, server, recorder } = begin(undefined, () => isBusy);
  recorder.record(restored);
  await time.advance(4900);
  expect(server.requests).toEqual([]);
  await time.advance(200);
  expect(server.requests).toHaveLength(1);
  recorder.record(aboutShare);
  await time.advance(100);
  expect(server.requests).toHaveLength(1);
  isBusy = false;
  await time.advance(100);
  expect(server.requests).toHaveLength(2);
});

test('a flush waits for no busy process', async () => {
  const { server, recorder } = begin(undefined, () => true);
  recorder.record(restored);
  await recorder.flush();
  expect(server.requests).toHaveLength(1);
});
