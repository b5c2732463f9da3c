// `reeve serve` with a collector of traces: a span for each review, and none of the collector's problems reaches a review.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../cluster/ports.ts';
import { eventually } from '../support/eventually.ts';
import { HttpsClient } from '../support/https-client.ts';
import { namespaceObject, responseOf, reviewJson, secretObject } from '../support/reviews.ts';
import { folderOf, ReeveProcess, type TestFolder } from '../support/serve-process.ts';
import { TraceCollector } from '../support/trace-collector.ts';

const policy = `apiVersion: reeve.dev/v1alpha1
kind: NamespacePolicy
metadata: {name: teams}
spec: {namespaces: {required: {labels: {team: {}}}}}
`;
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const json = { 'Content-Type': 'application/json' };
const good = reviewJson(namespaceObject('team-a', { labels: { team: 'a' } }));

let folder: TestFolder;

beforeAll(async () => {
  folder = await folderOf({ 'policies/teams.yaml': policy });
});
afterAll(() => folder[Symbol.asyncDispose]());

interface Served {
  readonly reeve: ReeveProcess;
  readonly client: HttpsClient;
  readonly spanCount: (result: string) => Promise<number>;
}

async function serve(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const flags = [
    '--policies',
    join(folder.path, 'policies'),
    '--port=0',
    '--probes-port=0',
    '--drain-grace=0s',
  ];
  const reeve = new ReeveProcess(['serve', ...flags, ...args], env);
  onTestFinished(() => reeve[Symbol.asyncDispose]());
  const { port, probesPort } = await reeve.ready();
  const client = new HttpsClient(port);
  onTestFinished(() => client.close());
  const spanCount = async (result: string): Promise<number> => {
    const metrics = await (await fetch(`http://127.0.0.1:${probesPort}/metrics`)).text();
    return Number(
      new RegExp(`^reeve_trace_spans_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(metrics)?.[1],
    );
  };
  return { reeve, client, spanCount };
}

async function collector(): Promise<TraceCollector> {
  const started = await TraceCollector.start();
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

test('each review becomes a span with its decision, and the rest of the object stays out of it', async () => {
  const traces = await collector();
  const { client, spanCount } = await serve([`--trace-endpoint=${traces.url}/`]);
  const secret = secretObject({ data: { password: btoa('c4n4ry') } });
  await client.post('/validate', reviewJson(namespaceObject('team-a', { annotations: { note: 'c4n4ry' } })));
  await client.post('/mutate', good);
  await client.post('/validate', reviewJson(secret));
  await client.post('/validate', 'c4n4ry');
  await eventually(() => traces.named('review').length).toBe(4);
  const attributes = {
    'reeve.endpoint': 'validate',
    'reeve.uid': expect.stringMatching(/./) as unknown,
    'reeve.operation': 'CREATE',
    'reeve.resource': 'namespaces',
    'reeve.namespace': 'team-a',
    'reeve.name': 'team-a',
    'reeve.dry_run': false,
    'reeve.decision': 'denied',
    'reeve.allowed': false,
    'http.response.status_code': '200',
  };
  const spans = traces.named('review');
  expect(spans.map((span) => span.attributes)).toMatchObject([
    attributes,
    { 'reeve.endpoint': 'mutate', 'reeve.allowed': true },
    { 'reeve.resource': 'secrets' },
    { 'http.response.status_code': '400' },
  ]);
  expect(Object.keys(spans[0]?.attributes ?? {}).sort()).toEqual(Object.keys(attributes).sort());
  for (const span of spans) {
    expect(span).toMatchObject({ kind: 2 });
    expect(span).not.toHaveProperty('parentSpanId');
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThan(BigInt(span.startTimeUnixNano));
  }
  expect(new Set(spans.map((span) => span.traceId)).size).toBe(4);
  expect(traces.resource).toEqual({
    'service.name': 'reeve',
    'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/) as unknown,
    'service.instance.id': expect.stringMatching(/./) as unknown,
  });
  expect(new Set(traces.requests)).toEqual(new Set(['POST /v1/traces application/json']));
  expect(traces.received).not.toMatch(/c4n4ry|YzRuNHJ5/);
  expect(await spanCount('sent')).toBe(4);
});

test('a review continues the trace of the API server, and is not recorded when that trace is not', async () => {
  const traces = await collector();
  const { client } = await serve([`--trace-endpoint=${traces.url}`]);
  for (const flags of ['00', '01']) {
    await client.post('/validate', good, { ...json, traceparent: `00-${traceId}-${spanId}-${flags}` });
  }
  await client.post('/validate', good, { ...json, traceparent: 'not valid' });
  await eventually(() => traces.spans.length).toBe(2);
  const [continued, own] = traces.spans;
  expect(continued).toMatchObject({ traceId, parentSpanId: spanId });
  expect(own?.traceId).not.toBe(traceId);
});

test('the spans of the last second are sent before the process ends', async () => {
  const traces = await collector();
  const { client, reeve } = await serve([`--trace-endpoint=${traces.url}`]);
  for (let call = 0; call < 20; call += 1) await client.post('/validate', good);
  reeve.kill('SIGTERM');
  expect((await reeve.ended()).code).toBe(0);
  expect(traces.spans).toHaveLength(20);
});

test.for(['missing', 503, 'silent'] as const)(
  'with a collector that is %s, reviews are answered, lost spans are counted, and the process ends',
  async (state) => {
    const traces = await collector();
    const [nobody] = await freePorts(1);
    if (state !== 'missing') traces.answer = state;
    const url = state === 'missing' ? `http://127.0.0.1:${nobody}` : traces.url;
    const { client, reeve, spanCount } = await serve([`--trace-endpoint=${url}`]);
    for (let call = 0; call < 50; call += 1) {
      expect(responseOf((await client.post('/validate', good)).body).allowed).toBe(true);
    }
    if (state !== 'silent') {
      await eventually(() => spanCount('failed')).toBe(50);
      const reason = state === 503 ? 'HTTP 503' : 'ECONNREFUSED';
      await eventually(() => reeve.stderr).toContain(`"reason":"${reason}","msg":"traces not sent"`);
    }
    reeve.kill('SIGTERM');
    expect((await reeve.ended()).code).toBe(0);
  },
);

test('without a collector no code of tracing is loaded, and the metric does not exist', async () => {
  const traces = await collector();
  const loaded = async (...args: readonly string[]): Promise<ReadonlySet<string>> => {
    const list = join(folder.path, `loaded-${args.length}`);
    const hook = join(import.meta.dirname, '../support/list-loaded.ts');
    const served = await serve(args, { NODE_OPTIONS: `--import=${hook}`, REEVE_TEST_LOADED: list });
    await served.client.post('/validate', good);
    expect(await served.spanCount('sent')).toSatisfy(args.length === 0 ? Number.isNaN : Number.isInteger);
    served.reeve.kill('SIGTERM');
    await served.reeve.ended();
    const urls = (await readFile(list, 'utf8')).split('\n');
    return new Set(urls.flatMap((url) => /src\/.*/.exec(url) ?? []));
  };
  const off = await loaded();
  const on = await loaded(`--trace-endpoint=${traces.url}`);
  expect(off).toContain('src/app/tracing.ts');
  const added = [...on].filter((file) => !off.has(file) && !file.startsWith('src/base/'));
  expect(added.sort()).toEqual(['src/app/started-tracing.ts', 'src/observe/tracer.ts']);
});
