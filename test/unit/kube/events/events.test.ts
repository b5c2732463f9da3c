// Events reach the API server once, their repetitions as a count, and never hold anybody up.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { KubeRequest } from '../../../../src/kube/http/client.ts';
import type { RecordedEvent } from '../../../../src/kube/events/event-object.ts';
import { createEventRecorder } from '../../../../src/kube/events/event-recorder.ts';
import type { EventRecorder } from '../../../../src/kube/events/event-recorder.ts';
import { FakeApiServer, json, networkError, refusal, silence } from '../../../support/fake-api-server.ts';
import type { Script } from '../../../support/fake-api-server.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const share = { apiVersion: 'reeve.dev/v1alpha1', kind: 'SecretShare', name: 'regcred', uid: 'u1' };
const secret = { apiVersion: 'v1', kind: 'Secret', name: 'regcred', namespace: 'team-a', uid: 'u2' };
const restored: RecordedEvent = {
  regarding: secret,
  related: share,
  type: 'Normal',
  reason: 'Restored',
  action: 'Restore',
  note: 'Put back what SecretShare/regcred provides.',
};
const aboutShare: RecordedEvent = { ...restored, regarding: share };

interface Running {
  readonly time: VirtualClock;
  readonly server: FakeApiServer;
  readonly recorder: EventRecorder;
  readonly drops: string[];
}

function begin(script: Script = () => json({})): Running {
  const time = new VirtualClock({ start: new Date('2030-01-01T00:00:00Z'), chance: 0.5 });
  const server = new FakeApiServer(time, script);
  const drops: string[] = [];
  const recorder = createEventRecorder(server, {
    component: 'reeve',
    instance: 'reeve-0',
    clock: time,
    onDrop: (reason) => drops.push(reason),
  });
  onTestFinished(() => recorder.flush());
  return { time, server, recorder, drops };
}

function bodies(server: FakeApiServer): readonly JsonObject[] {
  return server.requests.map(({ body }) => body as JsonObject);
}

function nameIn({ body }: KubeRequest): string {
  const { metadata } = body as { metadata: { name: string } };
  return metadata.name;
}

describe('an Event', () => {
  test('has the form of events.k8s.io/v1, in the namespace of its object', async () => {
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
    [
      'a cluster-scoped object, told in a namespace',
      { ...aboutShare, namespace: 'team-a' },
      'team-a',
      { ...share, namespace: 'team-a' },
    ],
  ] satisfies [string, RecordedEvent, string, object][])(
    'about %s is put where the API server takes it',
    async ([, event, namespace, regarding]) => {
      const { time, server, recorder } = begin();
      recorder.record(event);
      await time.settle();
      expect(server.requests[0]?.path).toBe(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
      expect(bodies(server)).toMatchObject([{ metadata: { namespace }, regarding }]);
    },
  );

  test.for([
    ['a name like any other', 'reg.cred-1', /^reg\.cred-1\.[0-9a-f]{20,40}$/],
    ['what only RBAC allows', 'system:x', /^secret\.[0-9a-f]+$/],
    ['a name of the greatest length', 'a'.repeat(253), /^(?=.{253}$)a+\.[0-9a-f]+$/],
    ['a name with a point at the cut', `${'a'.repeat(222)}${'.b'.repeat(15)}`, /^(?!.*\.\.).{1,253}$/],
  ] as const)('is named after %s', async ([, name, expected]) => {
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
  ] as const)('has a note of at most 1024 bytes, without half a character (%#)', async ([note, bytes]) => {
    const { time, server, recorder } = begin();
    recorder.record({ ...restored, note });
    await time.settle();
    const written = String(bodies(server)[0]?.['note']);
    expect([Buffer.byteLength(written), written.includes('\uFFFD')]).toEqual([bytes, false]);
  });
});

describe('repetitions', () => {
  test('become the count of one Event, written once in a minute', async () => {
    const { time, server, recorder } = begin();
    for (let second = 0; second < 150; second += 1) {
      recorder.record({ ...restored });
      await time.advance(1000);
    }
    const [created, ...patches] = server.requests;
    const name = created === undefined ? '' : nameIn(created);
    expect(patches).toMatchObject([
      {
        method: 'PATCH',
        path: `/apis/events.k8s.io/v1/namespaces/team-a/events/${name}`,
        contentType: 'application/merge-patch+json',
        body: { series: { count: 60, lastObservedTime: '2030-01-01T00:00:59.000000Z' } },
      },
      { body: { series: { count: 120, lastObservedTime: '2030-01-01T00:01:59.000000Z' } } },
    ]);
    await recorder.flush();
    expect(bodies(server).at(-1)).toMatchObject({ series: { count: 150 } });
    expect(time.sleeping).toEqual([]);
  });

  test('while it is being written are not forgotten', async () => {
    const { time, server, recorder } = begin(async () => {
      await time.sleep(500);
      return json({});
    });
    recorder.record(restored);
    await time.advance(100);
    recorder.record(restored);
    await time.advance(70_000);
    expect(bodies(server)).toMatchObject([{ metadata: {} }, { series: { count: 2 } }]);
  });

  test('after six minutes of quiet begin a new Event', async () => {
    const { time, server, recorder } = begin();
    recorder.record(restored);
    await time.advance(359_999);
    recorder.record(restored);
    await time.advance(360_000);
    recorder.record(restored);
    await time.advance(0);
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    const names = server.requests.filter(({ method }) => method === 'POST').map(nameIn);
    expect(new Set(names).size).toBe(2);
  });

  test('before the Event could be written are in it from the start', async () => {
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

  test.for([
    ['object', { regarding: { ...secret, uid: 'another' } }],
    ['reason', { reason: 'Deleted' }],
    ['action', { action: 'Delete' }],
    ['type', { type: 'Warning' }],
    ['note', { note: 'Another.' }],
  ] satisfies [string, Partial<RecordedEvent>][])(
    'are none when they differ in %s',
    async ([, difference]) => {
      const { time, server, recorder } = begin();
      recorder.record(restored);
      recorder.record({ ...restored, ...difference });
      await time.settle();
      expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
    },
  );
});

describe('too many', () => {
  test('about one object are dropped, and one more comes through in five minutes', async () => {
    const { time, server, recorder, drops } = begin();
    const flood = (from: number, count: number): void => {
      for (let index = from; index < from + count; index += 1)
        recorder.record({ ...aboutShare, note: `note ${index}` });
    };
    flood(0, 100);
    recorder.record(restored);
    await time.settle();
    await time.settle();
    expect([server.requests.length, drops]).toEqual([26, Array.from({ length: 75 }, () => 'limited')]);
    await time.advance(300_000);
    flood(200, 2);
    await time.settle();
    expect(server.requests).toHaveLength(27);
  });

  test('that went well leave room for one that went wrong', async () => {
    const { time, server, recorder, drops } = begin();
    for (let index = 0; index < 26; index += 1) recorder.record({ ...aboutShare, note: `note ${index}` });
    recorder.record({ ...aboutShare, type: 'Warning' });
    await time.settle();
    await time.settle();
    expect([server.requests.length, drops]).toEqual([26, ['limited']]);
  });

  test('in all while nobody answers are dropped, and memory stays bounded', async () => {
    const { time, server, recorder, drops } = begin(() => silence);
    for (let index = 0; index < 5000; index += 1) {
      recorder.record({ ...restored, regarding: { ...secret, uid: `uid-${index}` } });
    }
    await time.settle();
    expect([server.requests.length, drops.length, new Set(drops)]).toEqual([1, 4000, new Set(['overflow'])]);
    const flushed = recorder.flush();
    await time.advance(5000);
    await flushed;
    expect([drops.length, time.sleeping]).toEqual([5000, []]);
  });
});

test('there is something to flush only after an event', async () => {
  const { server, recorder } = begin();
  await recorder.flush();
  recorder.record(restored);
  await recorder.flush();
  expect(server.requests.map(({ method }) => method)).toEqual(['POST']);
});

describe('a server that', () => {
  test('refuses is not asked again, and the drop is counted', async () => {
    const { time, server, recorder, drops } = begin(() => refusal(403, 'Forbidden'));
    recorder.record(restored);
    await time.advance(1000);
    for (let index = 0; index < 10; index += 1) recorder.record(restored);
    await time.advance(50_000);
    expect([server.requests.length, ...drops]).toEqual([1, 'refused']);
  });

  test('is away for a while gets everything afterwards', async () => {
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

  test('is away for long is told no old news', async () => {
    const { time, recorder, drops } = begin(() => refusal(0, 'ECONNREFUSED'));
    recorder.record(restored);
    await time.advance(600_000);
    expect([...drops, ...time.sleeping]).toEqual(['unreachable']);
  });

  test('is busy is given the time it asks for', async () => {
    const answers = [refusal(429, 'TooManyRequests', { retryAfterMs: 9000 })];
    const { time, server, recorder } = begin(() => answers.shift() ?? json({}));
    recorder.record(restored);
    await time.advance(8999);
    expect(server.requests).toHaveLength(1);
    await time.advance(4000);
    expect(server.requests).toHaveLength(2);
  });

  test('lost its answer is not told twice', async () => {
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

  test('has forgotten an Event gets a new one with the next repetition', async () => {
    const { time, server, recorder } = begin(({ method }) =>
      method === 'PATCH' ? refusal(404, 'NotFound') : json({}),
    );
    for (let minute = 0; minute < 3; minute += 1) {
      recorder.record(restored);
      await time.advance(60_000);
    }
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    expect(bodies(server).at(-1)).toMatchObject({ series: { count: 3 } });
  });
});
