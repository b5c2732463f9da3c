// Sends spans to a collector that accepts, refuses or never answers, on a clock that only the test advances.
import { expect, test } from 'vitest';
import { MetricsRegistry } from '../../../src/observe/registry.ts';
import { TraceExporter, TraceMetrics, type Span } from '../../../src/observe/tracer.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

type TraceExporterPorts = ConstructorParameters<typeof TraceExporter>[0];

const span: Span = {
  start: { name: 'x', kind: 'internal', parent: undefined },
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  isSampled: true,
  attributes: {},
  startMs: 0,
  endMs: 1,
  offsetMs: 0,
};
const unhurried = new AbortController().signal;
const refused = Object.assign(new Error('text of the library'), { code: 'ECONNREFUSED' });

function exporterOf(send: TraceExporterPorts['send'] = () => Promise.resolve()) {
  const batches: number[] = [];
  const metrics = new TraceMetrics(new MetricsRegistry());
  const counts = async (): Promise<object> => {
    const { values } = await metrics.spans.get();
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.result), value]));
  };
  const reasons: string[] = [];
  const clock = new VirtualClock();
  const exporter = new TraceExporter({
    send: async (spans, signal) => {
      batches.push(spans.length);
      await send(spans, signal);
    },
    metrics,
    failing: (reason) => reasons.push(reason),
    clock,
  });
  const add = (count: number): void => {
    for (let added = 0; added < count; added += 1) exporter.add(span);
  };
  return { exporter, add, batches, counts, reasons, clock };
}

/** A collector that accepts the connection and never answers. */
const silent: TraceExporterPorts['send'] = async (_spans, signal) => {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason));
  await promise;
};

test('spans are sent once a second, in batches, and nothing is sent without spans', async () => {
  const { exporter, add, batches, counts, clock } = exporterOf();
  add(1000);
  await clock.settle();
  expect(batches).toEqual([]);
  await clock.advance(1000);
  expect(batches).toEqual([512, 488]);
  await clock.advance(10_000);
  expect(batches).toHaveLength(2);
  expect(await counts()).toEqual({ sent: 1000, failed: 0, dropped: 0 });
  await exporter.close(unhurried);
});

test('spans are dropped and counted when too many wait, also while a collector does not answer', async () => {
  const { exporter, add, batches, counts, clock } = exporterOf(silent);
  add(5000);
  expect(await counts()).toMatchObject({ dropped: 904 });
  await clock.advance(1000);
  expect(batches).toEqual([512]);
  add(1000);
  expect(await counts()).toEqual({ sent: 0, failed: 0, dropped: 1392 });
  await exporter.close(AbortSignal.abort());
});

test('a collector that fails is asked once a second, and reported once each time it begins to fail', async () => {
  let isDown = true;
  const { exporter, add, batches, counts, reasons, clock } = exporterOf(async () => {
    if (isDown) throw refused;
    await Promise.resolve();
  });
  add(1200);
  await clock.advance(1000);
  await clock.advance(1000);
  expect(batches).toEqual([512, 512]);
  expect(reasons).toEqual(['ECONNREFUSED']);
  isDown = false;
  await clock.advance(1000);
  expect(await counts()).toEqual({ sent: 176, failed: 1024, dropped: 0 });
  isDown = true;
  add(1);
  await clock.advance(1000);
  expect(reasons).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  await exporter.close(unhurried);
});

test('the last spans are sent at the end', async () => {
  const { exporter, add, counts } = exporterOf();
  add(600);
  await exporter.close(unhurried);
  expect(await counts()).toMatchObject({ sent: 600 });
});

test('a collector that does not answer delays the end by two seconds', async () => {
  const { exporter, add, batches, clock } = exporterOf(silent);
  add(600);
  let hasEnded = false;
  const closed = exporter.close(unhurried).then(() => (hasEnded = true));
  await clock.advance(1999);
  expect(hasEnded).toBe(false);
  await clock.advance(1);
  await closed;
  expect(batches).toEqual([512]);
});

test('a second signal ends the wait for the collector at once', async () => {
  const { exporter, add, batches, clock } = exporterOf(silent);
  const hurry = new AbortController();
  add(1);
  const closed = exporter.close(hurry.signal);
  await clock.settle();
  hurry.abort();
  await closed;
  expect(batches).toEqual([1]);
});
