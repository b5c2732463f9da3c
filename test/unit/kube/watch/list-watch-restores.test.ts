// Checks what a list-watch asks after it lost the server, and that it notices when etcd was restored from a backup.
import { describe, expect, test } from 'vitest';
import {
  FakeStream,
  json,
  networkError,
  refusal,
  silence,
  stream,
  type Answer,
} from '../../../support/fake-api-server.ts';
import {
  RecordingSink,
  added,
  answers,
  at,
  bookmark,
  deleted,
  expectCase,
  errorLine,
  item,
  list,
  listed,
  modified,
  open,
  run,
  type ListWatchCase,
} from './list-watch-harness.ts';

const cases: readonly ListWatchCase[] = [
  {
    name: 'an older version, as after a restored backup, leads to a list',
    answers: [
      listed,
      stream([bookmark(200)], 'end'),
      stream([bookmark(90)]),
      list(95, [item('b', 80)]),
      open,
    ],
    asked: ['list', 'watch 10', 'watch 200', 'list', 'watch 95'],
    delivered: ['all at 10: a:1', 'restored at 95: b:80'],
    restores: 1,
    interruptions: ['watch 0 WentBack: 200'],
  },
  {
    name: 'a server that was stopped after a cut is listed again, although its version is newer than ours',
    answers: [
      listed,
      stream([added('b', 11)], networkError()),
      refusal(0, 'ECONNREFUSED'),
      at(500),
      list(500, [item('a', 1)]),
      open,
    ],
    asked: ['list', 'watch 10', 'version', 'version', 'list', 'watch 500'],
    delivered: ['all at 10: a:1', '+b:11', 'all at 500: a:1'],
    interruptions: ['watch 0 ECONNRESET: 200', 'watch 0 ECONNREFUSED: 200'],
  },
  {
    name: 'a server that is behind our version after a cut was restored from a backup',
    answers: [listed, stream([bookmark(200)], networkError()), at(90), list(250, [item('a', 1)]), open],
    asked: ['list', 'watch 10', 'version', 'list', 'watch 250'],
    delivered: ['all at 10: a:1', 'restored at 250: a:1'],
    interruptions: ['watch 0 ECONNRESET: 200'],
    restores: 1,
  },
  {
    name: 'a list that is behind our version shows that the server was restored from a backup',
    answers: [listed, stream([bookmark(200), errorLine(410, 'Expired')]), list(90, [item('a', 1)]), open],
    asked: ['list', 'watch 10', 'list', 'watch 90'],
    delivered: ['all at 10: a:1', 'restored at 90: a:1'],
    interruptions: ['watch 410 Expired: 200'],
    restores: 1,
  },
  {
    name: 'a server that cannot be asked for its version is listed again after a cut',
    answers: [listed, stream([], networkError()), refusal(406, 'NotAcceptable'), list(12, []), open],
    asked: ['list', 'watch 10', 'version', 'list', 'watch 12'],
    delivered: ['all at 10: a:1', 'all at 12:'],
    interruptions: ['watch 0 ECONNRESET: 200'],
  },
  {
    name: 'an unreachable server is asked for its version, and its state is listed again once it answers',
    answers: [
      listed,
      refusal(0, 'ECONNREFUSED'),
      refusal(0, 'ECONNREFUSED'),
      refusal(503, 'ServiceUnavailable'),
      refusal(401, 'Unauthorized'),
      at(12),
      list(12, [item('b', 12)]),
      open,
    ],
    asked: ['list', 'watch 10', 'version', 'version', 'version', 'version', 'list', 'watch 12'],
    delivered: ['all at 10: a:1', 'all at 12: b:12'],
    interruptions: [
      'watch 0 ECONNREFUSED: 200',
      'watch 0 ECONNREFUSED: 400',
      'watch 503 ServiceUnavailable: 800',
      'watch 401 Unauthorized: 1600',
    ],
  },
];

test.for(cases)('$name', async (each) => {
  await expectCase(each);
});

describe('a restore that another watch has noticed', () => {
  test('the state is listed again and delivered as restored, and no other watch lists again', async () => {
    const sink = new RecordingSink();
    const script = answers(listed, open, list(5, [item('b', 2)]), open);
    const { time, health, asked, restores, interruptions } = run(script, sink);
    await time.settle();
    health.restored();
    await time.settle();
    expect(asked()).toEqual(['list', 'watch 10', 'list', 'watch 5']);
    expect(sink.delivered).toEqual(['all at 10: a:1', 'restored at 5: b:2']);
    expect([restores(), ...interruptions]).toEqual([0]);
  });

  test('a list that began before is not delivered', async () => {
    const sink = new RecordingSink();
    const script = answers(silence, list(5, [item('b', 2)]), open);
    const { time, health, asked } = run(script, sink);
    await time.settle();
    health.restored();
    await time.settle();
    expect([asked(), sink.delivered]).toEqual([['list', 'list', 'watch 5'], ['restored at 5: b:2']]);
  });

  test('a list-watch that waits before a list begins at once', async () => {
    const sink = new RecordingSink();
    const script = answers(refusal(503, 'ServiceUnavailable'), list(5, []), open);
    const { time, health } = run(script, sink);
    await time.settle();
    health.restored();
    await time.settle();
    expect(sink.delivered).toEqual(['restored at 5:']);
  });
});

describe('an object that is read again after a conflict', () => {
  const path = '/api/v1/namespaces/x/secrets/a';

  test.for([
    ['a newer object is delivered', json(item('a', 12)), ['+a:12'], 0],
    ['an object that does not exist changes nothing', refusal(404, 'NotFound'), [], 0],
    ['without an answer nothing is delivered', refusal(0, 'ECONNREFUSED'), [], 0],
    ['an older object shows that the server was restored', json(item('a', 7)), ['restored at 20: b:1'], 1],
  ] satisfies [string, Answer, string[], number][])('%s', async ([, answer, delivered, restores]) => {
    const sink = new RecordingSink();
    const script = answers(listed, open, answer, list(20, [item('b', 1)]), open);
    const running = run(script, sink);
    await running.time.settle();
    await running.health.reread(path, '11');
    await running.time.settle();
    expect([sink.delivered.slice(1), running.restores()]).toEqual([delivered, restores]);
    expect(running.server.requests[2]).toMatchObject({ method: 'GET', path });
  });

  test.for([
    ['newer version', modified('a', 13), '+a:13'],
    ['deletion', deleted('a', 13), '-a:13'],
  ])('a read does not undo the %s that the watch reports meanwhile', async ([, event = '', delivered]) => {
    const sink = new RecordingSink();
    const watch = new FakeStream();
    const answer = Promise.withResolvers<Answer>();
    const script: readonly (Answer | Promise<Answer>)[] = [
      listed,
      { kind: 'stream', stream: watch },
      answer.promise,
    ];
    const { time, health } = run((_, index) => script[index] ?? open, sink);
    await time.settle();
    const read = health.reread(path, '11');
    await time.settle();
    watch.send(event);
    await time.settle();
    answer.resolve(json(item('a', 12)));
    await read;
    await time.settle();
    expect(sink.delivered.slice(1)).toEqual([delivered]);
  });
});
