// What a list-watch asks for and tells, through everything an API server, and the way to it, can do.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { KubeObject } from '../../../../src/base/kube-object.ts';
import { json, networkError, refusal, stream } from '../../../support/fake-api-server.ts';
import type { Answer } from '../../../support/fake-api-server.ts';
import {
  RecordingSink,
  added,
  answers,
  bookmark,
  deleted,
  errorLine,
  item,
  line,
  list,
  listed,
  modified,
  open,
  run,
} from './list-watch-harness.ts';

interface Case {
  readonly name: string;
  readonly answers: readonly Answer[];
  readonly asked: readonly string[];
  readonly told: readonly string[];
  readonly troubles: readonly string[];
}

const halfOfUmlaut = Buffer.from(added('ä', 11));
const splitInside = halfOfUmlaut.indexOf(0xc3) + 1;

const cases: readonly Case[] = [
  {
    name: 'pages become one state',
    answers: [
      list(10, [item('a', 1)], 'page2'),
      list(10, [item('b', 2)], 'page3'),
      list(10, [item('c', 3)]),
      open,
    ],
    asked: ['list', 'list page2', 'list page3', 'watch 10'],
    told: ['all at 10: a:1 b:2 c:3'],
    troubles: [],
  },
  {
    name: 'a state forgotten while it is paged is listed again at once, in one answer',
    answers: [list(10, [item('a', 1)], 'page2'), refusal(410, 'Expired'), list(20, [item('b', 12)]), open],
    asked: ['list', 'list page2', 'list without limit', 'watch 20'],
    told: ['all at 20: b:12'],
    troubles: [],
  },
  {
    name: 'a list that fails is tried again, later each time',
    answers: [
      refusal(500, 'InternalError'),
      refusal(403, 'Forbidden'),
      refusal(404, 'NotFound'),
      listed,
      open,
    ],
    asked: ['list', 'list', 'list', 'list', 'watch 10'],
    told: ['all at 10: a:1'],
    troubles: ['list 500 InternalError: 200', 'list 403 Forbidden: 400', 'list 404 NotFound: 800'],
  },
  {
    name: 'a server that is busy is given the time it asks for',
    answers: [
      refusal(429, 'TooManyRequests', { retryAfterMs: 7000 }),
      listed,
      refusal(429, 'TooManyRequests', { retryAfterMs: 1000 }),
      open,
    ],
    asked: ['list', 'list', 'watch 10', 'watch 10'],
    told: ['all at 10: a:1'],
    troubles: ['list 429 TooManyRequests: 7000', 'watch 429 TooManyRequests: 1000'],
  },
  {
    name: 'changes are told in their order',
    answers: [listed, stream([added('b', 11), modified('a', 12), deleted('b', 13)])],
    asked: ['list', 'watch 10'],
    told: ['all at 10: a:1', '+b:11', '+a:12', '-b:13'],
    troubles: [],
  },
  {
    name: 'a watch that ends is resumed from its last event, and one cut inside a line from the line before',
    answers: [
      listed,
      stream([added('b', 11)], 'end'),
      stream([added('c', 12), added('d', 13).slice(0, 40)], 'end'),
      stream([added('d', 13).slice(0, 20)], networkError()),
      stream([added('d', 13)]),
    ],
    asked: ['list', 'watch 10', 'watch 11', 'watch 12', 'watch 12'],
    told: ['all at 10: a:1', '+b:11', '+c:12', '+d:13'],
    troubles: ['watch 0 ECONNRESET: 200'],
  },
  {
    name: 'bookmarks move the version to resume from',
    answers: [listed, stream([bookmark(50)], 'end'), stream([bookmark(60)], networkError()), open],
    asked: ['list', 'watch 10', 'watch 50', 'watch 60'],
    told: ['all at 10: a:1'],
    troubles: ['watch 0 ECONNRESET: 200'],
  },
  {
    name: 'a deletion nobody was told of is told by the list after an ERROR of 410',
    answers: [
      list(10, [item('a', 1), item('b', 2)]),
      stream([errorLine(410, 'Expired')]),
      list(30, [item('b', 2)]),
      open,
    ],
    asked: ['list', 'watch 10', 'list', 'watch 30'],
    told: ['all at 10: a:1 b:2', 'all at 30: b:2'],
    troubles: ['watch 410 Expired: 200'],
  },
  {
    name: '410 as the status of the answer leads to a list as well',
    answers: [listed, refusal(410, 'Expired'), list(30, [item('a', 28, 'another-uid')]), open],
    asked: ['list', 'watch 10', 'list', 'watch 30'],
    told: ['all at 10: a:1', 'all at 30: a:28'],
    troubles: ['watch 410 Expired: 200'],
  },
  {
    name: 'a watch that always expires lists ever more seldom',
    answers: [
      listed,
      refusal(410, 'Gone'),
      listed,
      refusal(410, 'Gone'),
      listed,
      refusal(410, 'Gone'),
      listed,
      open,
    ],
    asked: ['list', 'watch 10', 'list', 'watch 10', 'list', 'watch 10', 'list', 'watch 10'],
    told: ['all at 10: a:1', 'all at 10: a:1', 'all at 10: a:1', 'all at 10: a:1'],
    troubles: ['watch 410 Gone: 200', 'watch 410 Gone: 400', 'watch 410 Gone: 800'],
  },
  {
    name: 'waits begin anew with each list that led to a watch, and each watch that said something',
    answers: [
      refusal(500, 'InternalError'),
      refusal(500, 'InternalError'),
      listed,
      refusal(503, 'ServiceUnavailable'),
      refusal(503, 'ServiceUnavailable'),
      stream([bookmark(11), errorLine(410, 'Expired')]),
      list(20, []),
      refusal(503, 'ServiceUnavailable'),
      refusal(410, 'Expired'),
      list(30, []),
      refusal(503, 'ServiceUnavailable'),
      open,
    ],
    asked: [
      'list',
      'list',
      'list',
      'watch 10',
      'watch 10',
      'watch 10',
      'list',
      'watch 20',
      'watch 20',
      'list',
      'watch 30',
      'watch 30',
    ],
    told: ['all at 10: a:1', 'all at 20:', 'all at 30:'],
    troubles: [
      'list 500 InternalError: 200',
      'list 500 InternalError: 400',
      'watch 503 ServiceUnavailable: 200',
      'watch 503 ServiceUnavailable: 400',
      'watch 410 Expired: 200',
      'watch 503 ServiceUnavailable: 200',
      'watch 410 Expired: 400',
      'watch 503 ServiceUnavailable: 200',
    ],
  },
  {
    name: 'another ERROR is resumed from, and doubted the second time in a row',
    answers: [
      listed,
      stream([added('b', 11), errorLine(500, 'InternalError', { retryAfterSeconds: 2 })]),
      stream([errorLine(500, 'InternalError')]),
      list(20, []),
      open,
    ],
    asked: ['list', 'watch 10', 'watch 11', 'list', 'watch 20'],
    told: ['all at 10: a:1', '+b:11', 'all at 20:'],
    troubles: ['watch 500 InternalError: 2000', 'watch 500 InternalError: 200'],
  },
  {
    name: 'a server that was restored from a backup is asked for everything',
    answers: [
      listed,
      stream([bookmark(200)], 'end'),
      stream([bookmark(90)]),
      list(95, [item('b', 80)]),
      open,
    ],
    asked: ['list', 'watch 10', 'watch 200', 'list', 'watch 95'],
    told: ['all at 10: a:1', 'all at 95: b:80'],
    troubles: ['watch 0 WentBack: 200'],
  },
  {
    name: 'a garbage line ends the watch, which is resumed from the event before it',
    answers: [listed, stream([added('b', 11), '<html>\n', added('never', 12)]), stream([added('c', 12)])],
    asked: ['list', 'watch 10', 'watch 11'],
    told: ['all at 10: a:1', '+b:11', '+c:12'],
    troubles: ['watch 200 MalformedAnswer: 200'],
  },
  {
    name: 'an object without metadata is a fault of the watch, not the end of it',
    answers: [listed, stream([line('ADDED', { kind: 'Secret' })]), stream([added('c', 12)])],
    asked: ['list', 'watch 10', 'watch 10'],
    told: ['all at 10: a:1', '+c:12'],
    troubles: ['watch 200 MalformedAnswer: 200'],
  },
  {
    name: 'an object without metadata in a list deletes nobody',
    answers: [list(10, [item('a', 1), { data: {} }]), json({ kind: 'Status' }), listed, open],
    asked: ['list', 'list', 'list', 'watch 10'],
    told: ['all at 10: a:1'],
    troubles: ['list 200 MalformedAnswer: 200', 'list 200 MalformedAnswer: 400'],
  },
  {
    name: 'a line cut inside a character is whole again',
    answers: [listed, stream([halfOfUmlaut.subarray(0, splitInside), halfOfUmlaut.subarray(splitInside)])],
    asked: ['list', 'watch 10'],
    told: ['all at 10: a:1', '+ä:11'],
    troubles: [],
  },
  {
    name: 'a server that ends every watch at once is not asked without end',
    answers: [listed, stream([], 'end'), stream([], 'end'), stream([], 'end'), stream([added('b', 11)])],
    asked: ['list', 'watch 10', 'watch 10', 'watch 10', 'watch 10'],
    told: ['all at 10: a:1', '+b:11'],
    troubles: ['watch 0 ClosedEarly: 200', 'watch 0 ClosedEarly: 400', 'watch 0 ClosedEarly: 800'],
  },
  {
    name: 'a watch that says nothing and is cut again and again is soon resumed, however long that goes on',
    answers: [
      listed,
      ...Array.from({ length: 6 }, () => stream([], networkError())),
      stream([added('b', 11)]),
    ],
    asked: ['list', ...Array.from({ length: 7 }, () => 'watch 10')],
    told: ['all at 10: a:1', '+b:11'],
    troubles: [200, 400, 800, 1000, 1000, 1000].map((milliseconds) => `watch 0 ECONNRESET: ${milliseconds}`),
  },
  {
    name: 'a server that is away does not make the version doubtful',
    answers: [
      listed,
      refusal(0, 'ECONNREFUSED'),
      refusal(0, 'ECONNREFUSED'),
      refusal(503, 'ServiceUnavailable'),
      refusal(401, 'Unauthorized'),
      open,
    ],
    asked: ['list', 'watch 10', 'watch 10', 'watch 10', 'watch 10', 'watch 10'],
    told: ['all at 10: a:1'],
    troubles: [
      'watch 0 ECONNREFUSED: 200',
      'watch 0 ECONNREFUSED: 400',
      'watch 503 ServiceUnavailable: 800',
      'watch 401 Unauthorized: 1600',
    ],
  },
];

test.for(cases)('$name', async ({ answers: scripted, asked, told, troubles }) => {
  const sink = new RecordingSink();
  const running = run(answers(...scripted), sink);
  await running.time.advance(30_000);
  expect({ asked: running.asked(), told: sink.told, troubles: running.troubles }).toEqual({
    asked,
    told,
    troubles,
  });
});

test('a server that is away for long is tried every five to ten seconds', async () => {
  const tries = Array.from({ length: 10 }, () => refusal(0, 'ECONNREFUSED'));
  const { time, troubles } = run(answers(listed, ...tries, open), new RecordingSink());
  await time.advance(60_000);
  const waits = [200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 5000];
  expect(troubles).toEqual(waits.map((milliseconds) => `watch 0 ECONNREFUSED: ${milliseconds}`));
});

describe('what is asked for', () => {
  test('is bounded in size and time, and metadata only where the target says so', async () => {
    const target = {
      path: '/api/v1/secrets',
      labelSelector: 'a=b',
      fieldSelector: 'metadata.name=x',
      metadataOnly: true,
    };
    const { time, server } = run(answers(list(10, []), open), new RecordingSink(), { target, page: 50 });
    await time.settle();
    const selectors = { labelSelector: 'a=b', fieldSelector: 'metadata.name=x' };
    expect(server.requests).toMatchObject([
      {
        path: '/api/v1/secrets',
        query: { limit: '50', ...selectors },
        accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      },
      {
        path: '/api/v1/secrets',
        query: {
          watch: 'true',
          resourceVersion: '10',
          allowWatchBookmarks: 'true',
          timeoutSeconds: '240',
          ...selectors,
        },
        accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      },
    ]);
  });

  test('never names a version in a list, which could go back in time', async () => {
    const script = answers(listed, refusal(410, 'Expired'), list(30, []), open);
    const { time, server } = run(script, new RecordingSink());
    await time.advance(1000);
    const lists = server.requests.filter(({ query }) => query?.['watch'] === undefined);
    expect(lists.map(({ query }) => query)).toEqual([{ limit: '500' }, { limit: '500' }]);
  });
});

describe('objects', () => {
  test('have the kind of their list, and no managed fields', async () => {
    const told: KubeObject[] = [];
    const sink = {
      replaced: (all: readonly KubeObject[]) => told.push(...all),
      changed: () => undefined,
      removed: () => undefined,
    };
    const data = JSON.parse('{"__proto__": "eA=="}') as JsonObject;
    const { time } = run(answers(list(10, [{ ...item('a', 1), data }]), open), sink);
    await time.settle();
    expect(told.map((object) => JSON.stringify(object))).toEqual([
      '{"apiVersion":"v1","kind":"Secret","data":{"__proto__":"eA=="},"metadata":{"name":"a","uid":"uid-of-a","resourceVersion":"1"}}',
    ]);
  });

  test('that are deleted and made anew while watched are told as two', async () => {
    const sink = new RecordingSink();
    const { time } = run(answers(listed, stream([deleted('a', 11), added('a', 12, 'new')])), sink);
    await time.settle();
    expect(sink.told).toEqual(['all at 10: a:1', '-a:11', '+a:12']);
  });
});
