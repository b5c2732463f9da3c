// Tests answers: their forms, warnings, errors and streams.
import { request } from 'node:https';
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { describe, expect, it, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { ApiError, notFoundError } from '../../../../src/sandbox/api-error.ts';
import { ageOf } from '../../../../src/sandbox/http/reply.ts';
import { list, RunningServer } from './running-server.ts';
import type { ObjectAnswer, SandboxWatchEvent } from '../../../../src/sandbox/read/read.ts';

const meta = (kind: string): { accept: string } => ({
  accept: `application/json;as=${kind};v=v1;g=meta.k8s.io`,
});
const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'a', resourceVersion: '3', made: 'never' },
  data: { b: 'Yw==' },
};
const metadataOnly = {
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: secret.metadata,
};
const one = '/api/v1/namespaces/n/secrets/a';
const all = '/api/v1/namespaces/n/secrets';

function answering(object: object, code = 200): () => ObjectAnswer {
  return () => ({ kind: 'object', code, object: object as KubeObject });
}

describe('one object', () => {
  it.each<readonly [string, Record<string, string>, object]>([
    ['as it is', {}, secret],
    [
      'where anything will do',
      { accept: 'text/html, application/vnd.kubernetes.protobuf, */*;q=0.1' },
      secret,
    ],
    ['its metadata', meta('PartialObjectMetadata'), metadataOnly],
    [
      'as it is, where only a list was named',
      { accept: `${meta('PartialObjectMetadataList').accept},application/json` },
      secret,
    ],
    [
      'as a table',
      meta('Table'),
      {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: '3' },
        columnDefinitions: [
          { name: 'Name', type: 'string', format: 'name', description: 'The name.', priority: 0 },
          { name: 'Age', type: 'date', format: '', description: '', priority: 0 },
        ],
        rows: [{ cells: ['a', '<unknown>'], object: metadataOnly }],
      },
    ],
  ])('%s', async (_title, headers, expected) => {
    await using server = await RunningServer.start(answering(secret, 201));
    const { code, json, headers: answered } = await server.ask('GET', one, headers);
    expect({ code, json }).toEqual({ code: 201, json: expected });
    expect(answered).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
    });
  });

  it('one object is written in YAML for a client that accepts YAML', async () => {
    await using server = await RunningServer.start(answering(secret));
    const { body, headers } = await server.ask('GET', one, { accept: 'application/yaml' });
    expect(headers['content-type']).toBe('application/yaml');
    expect(body).toContain('\nkind: Secret\n');
  });

  it.each([
    [{ kind: 'Status', apiVersion: 'v1', status: 'Success' }],
    [{ kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', metadata: {} }],
  ])('an answer that is not an object of the kind has one form: %o', async (answer) => {
    await using server = await RunningServer.start(answering(answer));
    expect((await server.ask('DELETE', one, meta('Table'))).json).toEqual(answer);
  });

  it.each([
    ['text/csv'],
    [meta('Chart').accept],
    ['application/json;as=Table;v=v1;g=none.test'],
    ['application/cbor'],
  ])('one object cannot be requested as %s', async (accept) => {
    await using server = await RunningServer.start(answering(secret));
    const { code, json } = await server.ask('GET', one, { accept });
    expect({ code, reason: json['reason'] }).toEqual({ code: 406, reason: 'NotAcceptable' });
  });
});

const now = new Date('2026-06-01T00:00:00Z');
test.each([
  [-1, '0s'],
  [119, '119s'],
  [120, '2m'],
  [7199, '119m'],
  [7200, '2h'],
  [172_799, '47h'],
  [172_800, '2d'],
])('an age of %i seconds is %s', (seconds, age) => {
  expect(ageOf(new Date(now.getTime() - seconds * 1000).toISOString(), now)).toBe(age);
});

test.each([[''], ['yesterday'], [7], [undefined]])('an age of %s is unknown', (time) => {
  expect(ageOf(time, now)).toBe('<unknown>');
});

describe('a list', () => {
  const answer = (): ObjectAnswer => list([secret]);
  const metadata = { resourceVersion: '7' };

  it('a list has the kind of its items once', async () => {
    await using server = await RunningServer.start(answer);
    const { json } = await server.ask('GET', all);
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = secret;
    expect(json).toEqual({ kind: 'SecretList', apiVersion: 'v1', metadata, items: [rest] });
  });

  it('a list of a custom kind repeats the kind in each item', async () => {
    await using server = await RunningServer.start(answer);
    const { json } = await server.ask('GET', '/apis/reeve.dev/v1alpha1/secretshares');
    expect(json).toMatchObject({
      kind: 'SecretShareList',
      apiVersion: 'reeve.dev/v1alpha1',
      items: [secret],
    });
  });

  it('a list can hold the metadata alone', async () => {
    await using server = await RunningServer.start(answer);
    const { json } = await server.ask('GET', all, meta('PartialObjectMetadataList'));
    const listed = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' };
    expect(json).toEqual({ ...listed, metadata, items: [metadataOnly] });
  });

  it.each([
    ['None', null],
    ['Object', secret],
    ['', metadataOnly],
  ])('as a table includes %s', async (included, object) => {
    await using server = await RunningServer.start(answer);
    const { json } = await server.ask('GET', `${all}?includeObject=${included}`, meta('Table'));
    expect(json).toMatchObject({ metadata, rows: [{ cells: ['a', '<unknown>'], object }] });
  });
});

describe('errors', () => {
  it('errors are sent as a Status', async () => {
    await using server = await RunningServer.start(() => {
      throw notFoundError({ group: '', plural: 'secrets' }, 'a');
    });
    const { code, json } = await server.ask('GET', one, meta('Table'));
    expect({ code, json }).toMatchObject({
      code: 404,
      json: { kind: 'Status', message: 'secrets "a" not found' },
    });
    expect(server.records).toMatchObject([{ code: 404, answer: { message: 'secrets "a" not found' } }]);
    expect(server.faults).toEqual([]);
  });

  it('errors have a Retry-After header when the status has seconds', async () => {
    await using server = await RunningServer.start(() => {
      throw new ApiError({
        code: 429,
        reason: 'TooManyRequests',
        message: '',
        details: { retryAfterSeconds: 3 },
      });
    });
    expect((await server.ask('GET', one)).headers['retry-after']).toBe('3');
  });

  it('errors of the sandbox itself hide their cause', async () => {
    const fault = new Error('hunter2');
    await using server = await RunningServer.start(() => Promise.reject(fault));
    const { code, json, body } = await server.ask('GET', one);
    expect({ code, reason: json['reason'] }).toEqual({ code: 500, reason: 'InternalError' });
    expect(body).not.toContain('hunter2');
    expect(server.faults).toEqual([fault]);
  });
});

describe('warnings', () => {
  const headersOf = async (...texts: readonly string[]): Promise<readonly string[]> => {
    await using server = await RunningServer.start((asked) => {
      texts.forEach((text) => asked.warn(text));
      return list([]);
    });
    const { headers } = await server.ask('GET', all);
    return headers.warning === undefined ? [] : [Buffer.from(headers.warning, 'latin1').toString()];
  };

  it.each<readonly [readonly string[], readonly string[]]>([
    [[], []],
    [['a "b" \\c'], [String.raw`299 - "a \"b\" \\c"`]],
    [['a\r\nSet-Cookie: b'], ['299 - "a Set-Cookie: b"']],
    [['a', 'a'], ['299 - "a"']],
    [['a', 'b'], ['299 - "a", 299 - "b"']],
    [['für \u{1F600} \uD800'], ['299 - "für \u{1F600} \uFFFD"']],
  ])('%o are sent as %o', async (texts, headers) => {
    expect(await headersOf(...texts)).toEqual(headers);
  });

  it('warnings are cut when they are too long together', async () => {
    const texts = Array.from({ length: 100 }, (_, index) => `${index} ${'x'.repeat(1000)}`);
    const [header = ''] = await headersOf(...texts);
    expect(header.split(', ')).toHaveLength(16);
    expect(header.length).toBeLessThan(5000);
  });

  it('warnings are sent with errors too', async () => {
    await using server = await RunningServer.start((asked) => {
      asked.warn('mind');
      throw notFoundError({ group: '', plural: 'secrets' }, 'a');
    });
    expect((await server.ask('GET', one)).headers.warning).toBe('299 - "mind"');
  });
});

describe('a watch', () => {
  const events = (...given: readonly SandboxWatchEvent[]) =>
    async function* (): AsyncGenerator<SandboxWatchEvent> {
      yield* given;
      await Promise.resolve();
    };
  const bookmark: SandboxWatchEvent = {
    type: 'BOOKMARK',
    object: { apiVersion: 'v1', kind: 'Secret', metadata: { resourceVersion: '9' } },
  };
  const gone = new ApiError({ code: 410, reason: 'Expired', message: 'old' }).body as unknown as KubeObject;
  const watched = async (stream: () => AsyncIterable<SandboxWatchEvent>, headers = {}) => {
    await using server = await RunningServer.start(() => ({ kind: 'watch', events: stream() }));
    const { code, body } = await server.ask('GET', `${all}?watch=true`, headers);
    const lines = body.split('\n').slice(0, -1);
    return { code, events: lines.map((line) => JSON.parse(line) as unknown), faults: server.faults };
  };

  it('a watch sends its events in order and ends after an error', async () => {
    const added: SandboxWatchEvent = { type: 'ADDED', object: secret };
    const error: SandboxWatchEvent = { type: 'ERROR', object: gone };
    const seen = await watched(events(added, bookmark, error, added));
    expect(seen).toEqual({ code: 200, events: [added, bookmark, error], faults: [] });
  });

  it('a watch sends one row of a table for each event', async () => {
    const added: SandboxWatchEvent = { type: 'ADDED', object: secret };
    const { events: seen } = await watched(events(added, added, bookmark), meta('Table'));
    expect(seen).toMatchObject([
      {
        type: 'ADDED',
        object: { columnDefinitions: [{ name: 'Name' }, {}], rows: [{ cells: ['a', '<unknown>'] }] },
      },
      { type: 'ADDED', object: { columnDefinitions: null, rows: [{ cells: ['a', '<unknown>'] }] } },
      { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' }, columnDefinitions: null, rows: [] } },
    ]);
  });

  it('a watch sends metadata alone when the client asks for it', async () => {
    const added: SandboxWatchEvent = { type: 'ADDED', object: secret };
    const { events: seen } = await watched(events(added, bookmark), meta('PartialObjectMetadata'));
    const marked = { ...metadataOnly, metadata: { resourceVersion: '9' } };
    expect(seen).toEqual([
      { type: 'ADDED', object: metadataOnly },
      { type: 'BOOKMARK', object: marked },
    ]);
  });

  it('a watch that fails ends with an ERROR event', async () => {
    const fault = new Error('hunter2');
    const broken = (): AsyncIterable<SandboxWatchEvent> => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(fault) }),
    });
    const seen = await watched(broken);
    expect(seen).toMatchObject({
      code: 200,
      events: [{ type: 'ERROR', object: { code: 500 } }],
      faults: [fault],
    });
  });

  /** Begins at once, continues until the signal, and waits for a slow reader. */
  it('a watch begins before its first event and ends when the client disconnects', async () => {
    const aborted = Promise.withResolvers<string>();
    await using server = await RunningServer.start(({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve('gone'));
      return {
        kind: 'watch',
        events: { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) },
      };
    });
    const call = watching(server);
    call.on('error', () => undefined);
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.on('error', () => undefined);
    call.destroy();
    expect(await aborted.promise).toBe('gone');
  });

  it('a watch waits for a client that reads slowly', async () => {
    let made = 0;
    const object: KubeObject = { ...secret, data: { b: 'x'.repeat(1_000_000) } };
    const total = 60;
    await using server = await RunningServer.start(() => ({
      kind: 'watch',
      events: (async function* (): AsyncGenerator<SandboxWatchEvent> {
        for (; made < total; made += 1) yield await Promise.resolve({ type: 'ADDED', object });
      })(),
    }));
    const call = watching(server);
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    await once(response, 'readable');
    expect(made).toBeLessThan(total);
    let size = 0;
    for await (const chunk of response) size += (chunk as Buffer).length;
    expect(size).toBeGreaterThan(total * 1_000_000);
    expect(made).toBe(total);
  });
});

/** A watch whose answer the test reads itself. */
function watching(server: RunningServer): ClientRequest {
  const token = server.tokens.issue({ username: 'ann', groups: [] });
  const { port, agent } = server.client;
  const headers = { authorization: `Bearer ${token}` };
  const path = `${all}?watch=1`;
  return request({ host: '127.0.0.1', servername: 'localhost', port, agent, path, headers }).end();
}
