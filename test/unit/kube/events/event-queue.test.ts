// The queue of events is bounded, and a Warning is not lost behind Normal events.
import { expect, test } from 'vitest';
import { json, refusal, silence } from '../../../support/fake-api-server.ts';
import { aboutSecret, aboutShare, begin, bodies, secret } from './event-recorder-harness.ts';

test('the recorder sends one request at a time', async () => {
  let [running, most] = [0, 0];
  const { time, server, recorder, drops } = begin(async () => {
    running += 1;
    most = Math.max(most, running);
    await time.sleep(10);
    running -= 1;
    return json({});
  });
  for (let index = 0; index < 100; index += 1) recorder.record(aboutSecret(index));
  await time.advance(2000);
  expect([most, server.requests.length, drops]).toEqual([1, 100, []]);
});

test('the queue has at most 1000 events, and further events are dropped', async () => {
  const { time, server, recorder, drops } = begin(() => silence);
  for (let index = 0; index < 5000; index += 1) recorder.record(aboutSecret(index));
  await time.settle();
  expect([server.requests.length, drops.length, new Set(drops)]).toEqual([1, 4000, new Set(['overflow'])]);
  const flushed = recorder.flush();
  await time.advance(5000);
  await flushed;
  expect([drops.length, time.sleeping]).toEqual([5000, []]);
});

test('a repeat of an event in a full queue is not dropped', async () => {
  let isUp = false;
  const { time, server, recorder, drops } = begin(() => (isUp ? json({}) : refusal(0, 'ECONNREFUSED')));
  for (let index = 0; index < 1000; index += 1) recorder.record(aboutSecret(index));
  recorder.record(aboutSecret(999));
  isUp = true;
  await time.advance(60_000);
  expect([drops, bodies(server).at(-1)]).toMatchObject([
    [],
    { regarding: { uid: 'uid-999' }, series: { count: 2 } },
  ]);
});

test('at most 25 Normal events about one object are queued, so that others have room', async () => {
  const { time, server, recorder, drops } = begin();
  for (let index = 0; index < 500; index += 1) {
    recorder.record({ ...aboutShare, related: { ...secret, uid: `uid-${index}` } });
    recorder.record(aboutSecret(index));
  }
  await time.settle();
  const about = bodies(server).map((body) => (body['regarding'] as { kind: string }).kind);
  expect([about.filter((kind) => kind === 'SecretShare').length, about.length]).toEqual([25, 525]);
  expect([drops.length, new Set(drops)]).toEqual([475, new Set(['limited'])]);
});

test('an object has room for Normal events again once its events are written', async () => {
  const { server, recorder, drops } = begin();
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 25; index += 1)
      recorder.record({ ...aboutShare, note: `note ${round} ${index}` });
    await recorder.flush();
  }
  expect([server.requests.length, drops]).toEqual([75, []]);
});

test('events of what went well leave room for one that went wrong', async () => {
  const { time, server, recorder, drops } = begin();
  for (let index = 0; index < 26; index += 1) recorder.record({ ...aboutShare, note: `note ${index}` });
  recorder.record({ ...aboutShare, type: 'Warning' });
  await time.settle();
  expect([server.requests.length, drops]).toEqual([26, ['limited']]);
  expect(bodies(server).at(-1)).toMatchObject({ type: 'Warning' });
});

test('a Warning takes the place of the oldest Normal event that waits in a full queue', async () => {
  let isUp = false;
  const { time, server, recorder, drops } = begin(() => (isUp ? json({}) : refusal(0, 'ECONNREFUSED')));
  recorder.record({ ...aboutSecret(0), type: 'Warning' });
  for (let index = 1; index < 1000; index += 1) recorder.record(aboutSecret(index));
  recorder.record({ ...aboutShare, type: 'Warning' });
  isUp = true;
  await time.advance(60_000);
  const written = bodies(server).map((body) => (body['regarding'] as { uid: string }).uid);
  expect([drops, written.includes('uid-1'), written.length]).toEqual([['overflow'], false, 1001]);
  expect([written.at(1), written.at(2), written.at(-1)]).toEqual(['uid-0', 'uid-2', 'u1']);
});

test('a Warning does not take the place of the event that is being sent', async () => {
  const { time, server, recorder, drops } = begin(async () => {
    await time.sleep(500);
    return json({});
  });
  for (let index = 0; index < 1000; index += 1) recorder.record(aboutSecret(index));
  recorder.record({ ...aboutShare, type: 'Warning' });
  recorder.record(aboutSecret(0));
  await time.advance(600_000);
  expect([drops, server.requests.map(({ method }) => method).filter((each) => each === 'PATCH')]).toEqual([
    ['overflow'],
    ['PATCH'],
  ]);
});

test('a queue full of Warnings drops a further Warning', () => {
  const { recorder, drops } = begin();
  for (let index = 0; index < 1001; index += 1) recorder.record({ ...aboutSecret(index), type: 'Warning' });
  expect(drops).toEqual(['overflow']);
});
