// Checks the requests and deliveries of a list-watch for all behaviors of server and network.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { json, networkError, refusal, stream } from '../../../support/fake-api-server.ts';
import {
  RecordingSink,
  added,
  answers,
  at,
  bookmark,
  expectCase,
  deleted,
  errorLine,
  item,
  line,
  list,
  listed,
  modified,
  open,
  run,
  type ListWatchCase,
} from './list-watch-harness.ts';

const halfOfUmlaut = Buffer.from(added('ä', 11));
const splitInside = halfOfUmlaut.indexOf(0xc3) + 1;

const cases: readonly ListWatchCase[] = [
  {
    name: 'pages become one state',
    answers: [
      list(10, [item('a', 1)], 'page2'),
      list(10, [item('b', 2)], 'page3'),
      list(10, [item('c', 3)]),
      open,
    ],
    asked: ['list', 'list page2', 'list page3', 'watch 10'],
    delivered: ['all at 10: a:1 b:2 c:3'],
    interruptions: [],
  },
  {
    name: 'a state that expires between pages is listed again at once, without pages',
    answers: [list(10, [item('a', 1)], 'page2'), refusal(410, 'Expired'), list(20, [item('b', 12)]), open],
    asked: ['list', 'list page2', 'list without limit', 'watch 20'],
    delivered: ['all at 20: b:12'],
    interruptions: [],
  },
  {
    name: 'a failed list is repeated after growing waits',
    answers: [
      refusal(500, 'InternalError'),
      refusal(403, 'Forbidden'),
      refusal(404, 'NotFound'),
      listed,
      open,
    ],
    asked: ['list', 'list', 'list', 'list', 'watch 10'],
    delivered: ['all at 10: a:1'],
    interruptions: ['list 500 InternalError: 200', 'list 403 Forbidden: 400', 'list 404 NotFound: 800'],
  },
  {
    name: 'a busy server gets the time that it requires',
    answers: [
      refusal(429, 'TooManyRequests', { retryAfterMs: 7000 }),
      listed,
      refusal(429, 'TooManyRequests', { retryAfterMs: 1000 }),
      open,
    ],
    asked: ['list', 'list', 'watch 10', 'watch 10'],
    delivered: ['all at 10: a:1'],
    interruptions: ['list 429 TooManyRequests: 7000', 'watch 429 TooManyRequests: 1000'],
  },
  {
    name: 'changes are delivered one by one as they happened',
    answers: [listed, stream([added('b', 11), modified('a', 12), deleted('b', 13)])],
    asked: ['list', 'watch 10'],
    delivered: ['all at 10: a:1', '+b:11', '+a:12', '-b:13'],
    interruptions: [],
  },
  {
    name: 'a watch is resumed from its last event, also after a cut inside a line, when the server has not gone back',
    answers: [
      listed,
      stream([added('b', 11)], 'end'),
      stream([added('c', 12), added('d', 13).slice(0, 40)], 'end'),
      stream([added('d', 13).slice(0, 20)], networkError()),
      at(13),
      stream([added('d', 13)]),
    ],
    asked: ['list', 'watch 10', 'watch 11', 'watch 12', 'version', 'watch 12'],
    delivered: ['all at 10: a:1', '+b:11', '+c:12', '+d:13'],
    interruptions: ['watch 0 ECONNRESET: 200'],
  },
  {
    name: 'a watch is resumed from its last bookmark',
    answers: [listed, stream([bookmark(50)], 'end'), stream([bookmark(60)], networkError()), at(60), open],
    asked: ['list', 'watch 10', 'watch 50', 'version', 'watch 60'],
    delivered: ['all at 10: a:1'],
    interruptions: ['watch 0 ECONNRESET: 200'],
  },
  {
    name: 'the list after an ERROR of 410 delivers a deletion that the watch missed',
    answers: [
      list(10, [item('a', 1), item('b', 2)]),
      stream([errorLine(410, 'Expired')]),
      list(30, [item('b', 2)]),
      open,
    ],
    asked: ['list', 'watch 10', 'list', 'watch 30'],
    delivered: ['all at 10: a:1 b:2', 'all at 30: b:2'],
    interruptions: ['watch 410 Expired: 200'],
  },
  {
    name: 'a 410 as the status of the answer also leads to a list',
    answers: [listed, refusal(410, 'Expired'), list(30, [item('a', 28, 'another-uid')]), open],
    asked: ['list', 'watch 10', 'list', 'watch 30'],
    delivered: ['all at 10: a:1', 'all at 30: a:28'],
    interruptions: ['watch 410 Expired: 200'],
  },
  {
    name: 'a watch that always expires leads to lists after growing waits',
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
    delivered: ['all at 10: a:1', 'all at 10: a:1', 'all at 10: a:1', 'all at 10: a:1'],
    interruptions: ['watch 410 Gone: 200', 'watch 410 Gone: 400', 'watch 410 Gone: 800'],
  },
  {
    name: 'waits start again after a list that led to a watch, and after a watch with an event',
    answers: [
      refusal(500, 'InternalError'),
      refusal(500, 'InternalError'),
      listed,
      refusal(429, 'TooManyRequests'),
      refusal(429, 'TooManyRequests'),
      stream([bookmark(11), errorLine(410, 'Expired')]),
      list(20, []),
      refusal(429, 'TooManyRequests'),
      refusal(410, 'Expired'),
      list(30, []),
      refusal(429, 'TooManyRequests'),
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
    delivered: ['all at 10: a:1', 'all at 20:', 'all at 30:'],
    interruptions: [
      'list 500 InternalError: 200',
      'list 500 InternalError: 400',
      'watch 429 TooManyRequests: 200',
      'watch 429 TooManyRequests: 400',
      'watch 410 Expired: 200',
      'watch 429 TooManyRequests: 200',
      'watch 410 Expired: 400',
      'watch 429 TooManyRequests: 200',
    ],
  },
  {
    name: 'another ERROR is resumed once, and leads to a list the second time',
    answers: [
      listed,
      stream([added('b', 11), errorLine(500, 'InternalError', { retryAfterSeconds: 2 })]),
      at(11),
      stream([errorLine(500, 'InternalError')]),
      list(20, []),
      open,
    ],
    asked: ['list', 'watch 10', 'version', 'watch 11', 'list', 'watch 20'],
    delivered: ['all at 10: a:1', '+b:11', 'all at 20:'],
    interruptions: ['watch 500 InternalError: 2000', 'watch 500 InternalError: 200'],
  },
  {
    name: 'a line that is not JSON ends the watch, which is resumed from the event before',
    answers: [listed, stream([added('b', 11), '<html>\n', added('never', 12)]), stream([added('c', 12)])],
    asked: ['list', 'watch 10', 'watch 11'],
    delivered: ['all at 10: a:1', '+b:11', '+c:12'],
    interruptions: ['watch 200 MalformedAnswer: 200'],
  },
  {
    name: 'an object without metadata ends the watch, which is resumed',
    answers: [listed, stream([line('ADDED', { kind: 'Secret' })]), stream([added('c', 12)])],
    asked: ['list', 'watch 10', 'watch 10'],
    delivered: ['all at 10: a:1', '+c:12'],
    interruptions: ['watch 200 MalformedAnswer: 200'],
  },
  {
    name: 'an object without metadata makes a list invalid, and deletes no object',
    answers: [list(10, [item('a', 1), { data: {} }]), json({ kind: 'Status' }), listed, open],
    asked: ['list', 'list', 'list', 'watch 10'],
    delivered: ['all at 10: a:1'],
    interruptions: ['list 200 MalformedAnswer: 200', 'list 200 MalformedAnswer: 400'],
  },
  {
    name: 'a character that is split between chunks is read',
    answers: [listed, stream([halfOfUmlaut.subarray(0, splitInside), halfOfUmlaut.subarray(splitInside)])],
    asked: ['list', 'watch 10'],
    delivered: ['all at 10: a:1', '+ä:11'],
    interruptions: [],
  },
  {
    name: 'a server that ends every watch at once is asked after growing waits',
    answers: [
      listed,
      ...Array.from({ length: 3 }, () => [stream([], 'end'), at(10)]).flat(),
      stream([added('b', 11)]),
    ],
    asked: ['list', ...Array.from({ length: 3 }, () => ['watch 10', 'version']).flat(), 'watch 10'],
    delivered: ['all at 10: a:1', '+b:11'],
    interruptions: ['watch 0 ClosedEarly: 200', 'watch 0 ClosedEarly: 400', 'watch 0 ClosedEarly: 800'],
  },
  {
    name: 'a silent watch that is cut repeatedly is resumed within a second each time',
    answers: [
      listed,
      ...Array.from({ length: 6 }, () => [stream([], networkError()), at(10)]).flat(),
      stream([added('b', 11)]),
    ],
    asked: ['list', ...Array.from({ length: 6 }, () => ['watch 10', 'version']).flat(), 'watch 10'],
    delivered: ['all at 10: a:1', '+b:11'],
    interruptions: [200, 400, 800, 1000, 1000, 1000].map(
      (milliseconds) => `watch 0 ECONNRESET: ${milliseconds}`,
    ),
  },
];

test.for(cases)('$name', async (each) => {
  await expectCase(each);
});

test('a server that is down for long is tried every five to ten seconds', async () => {
  const tries = Array.from({ length: 10 }, () => refusal(0, 'ECONNREFUSED'));
  const { time, interruptions } = run(answers(listed, ...tries, at(10), listed, open), new RecordingSink());
  await time.advance(60_000);
  const waits = [200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 5000];
  expect(interruptions).toEqual(waits.map((milliseconds) => `watch 0 ECONNREFUSED: ${milliseconds}`));
});

describe('requests', () => {
  test('requests are limited in size and time, and ask for metadata only if the target says so', async () => {
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

  test('a list has no resourceVersion, because an older state could be returned', async () => {
    const script = answers(listed, refusal(410, 'Expired'), list(30, []), open);
    const { time, server } = run(script, new RecordingSink());
    await time.advance(1000);
    const lists = server.requests.filter(({ query }) => query?.['watch'] === undefined);
    expect(lists.map(({ query }) => query)).toEqual([{ limit: '500' }, { limit: '500' }]);
  });
});

test('objects have the kind of their list, and no managed fields', async () => {
  const delivered: KubeObject[] = [];
  const sink = {
    replaced: (all: readonly KubeObject[]) => delivered.push(...all),
    changed: () => undefined,
    removed: () => undefined,
  };
  const data = JSON.parse('{"__proto__": "eA=="}') as JsonObject;
  const { time } = run(answers(list(10, [{ ...item('a', 1), data }]), open), sink);
  await time.settle();
  expect(delivered.map((object) => JSON.stringify(object))).toEqual([
    '{"apiVersion":"v1","kind":"Secret","data":{"__proto__":"eA=="},"metadata":{"name":"a","uid":"uid-of-a","resourceVersion":"1"}}',
  ]);
});

test('objects of lists and of events keep their managed fields if the target says so', async () => {
  const delivered: unknown[] = [];
  const add = ({ metadata }: KubeObject): void => void delivered.push(metadata['managedFields']);
  const sink = {
    replaced: (all: readonly KubeObject[]) => all.forEach(add),
    changed: add,
    removed: add,
  };
  const target = { path: '/api/v1/serviceaccounts', keepsManagers: true };
  const events = stream([added('b', 11), deleted('b', 12)]);
  const { time } = run(answers(list(10, [item('a', 1)]), events), sink, { target });
  await time.settle();
  expect(delivered).toEqual([[{ manager: 'x' }], [{ manager: 'x' }], [{ manager: 'x' }]]);
});

test('an object that is deleted and created again is delivered as two objects', async () => {
  const sink = new RecordingSink();
  const { time } = run(answers(listed, stream([deleted('a', 11), added('a', 12, 'new')])), sink);
  await time.settle();
  expect(sink.delivered).toEqual(['all at 10: a:1', '-a:11', '+a:12']);
});
