// Follows spans through asynchronous work: which span is the parent, what is recorded, and when a span ends.
import { expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import { Tracer, type Span } from '../../../src/observe/tracer.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

type SpanStart = Parameters<Tracer['trace']>[0];

const date = new Date('2026-11-22T12:00:00Z');
const remote = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };
const root: SpanStart = { name: 'outer', kind: 'server', parent: undefined };

function traced() {
  const spans: Span[] = [];
  const clock = new VirtualClock({ start: date });
  const tracer = new Tracer(clock, (span) => spans.push(span));
  const inner = async (work: () => Promise<void> = async () => {}): Promise<void> =>
    await tracer.trace({ name: 'inner', kind: 'client', parent: tracer.current }, work);
  return { spans, clock, tracer, inner };
}

test('work inside a span belongs to it, also after a wait', async () => {
  const { spans, tracer, inner, clock } = traced();
  const work = tracer.trace(root, async () => {
    await clock.sleep(5);
    await inner(async () => await clock.sleep(2));
  });
  await clock.advance(5);
  await clock.advance(2);
  await work;
  const [child, parent] = spans;
  const at = date.getTime();
  expect(child).toMatchObject({ start: { name: 'inner', parent }, startMs: at + 5, endMs: at + 7 });
  expect(parent).toMatchObject({ start: root, startMs: at, endMs: at + 7 });
  expect(child?.traceId).toBe(parent?.traceId);
  expect(child?.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(parent?.traceId).toMatch(/^[0-9a-f]{32}$/);
});

test('two spans at the same time do not mix', async () => {
  const { spans, tracer, inner } = traced();
  await Promise.all([tracer.trace(root, () => inner()), tracer.trace(root, () => inner())]);
  const [inside, around] = ['inner', 'outer'].map((name) => spans.filter(({ start }) => start.name === name));
  expect(new Set(inside?.map(({ start }) => start.parent))).toEqual(new Set(around));
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
});

test('a span with a parent in another process continues its trace', async () => {
  const { spans, tracer } = traced();
  await tracer.trace({ ...root, parent: remote }, async () => {});
  expect(spans).toMatchObject([{ traceId: remote.traceId, start: { parent: remote } }]);
  expect(spans[0]?.spanId).not.toBe(remote.spanId);
});

test('nothing of a trace that is not sampled is recorded, and its requests say so', async () => {
  const { spans, tracer, inner } = traced();
  await tracer.trace({ ...root, parent: { ...remote, isSampled: false } }, async () => {
    expect(tracer.current).toMatchObject({ traceId: remote.traceId, isSampled: false });
    await inner();
    expect(tracer.current).toMatchObject({ start: { name: 'outer' } });
  });
  expect(spans).toEqual([]);
});

test('a loop that outlives the work that started it has no span', async () => {
  const { tracer, clock } = traced();
  const seen: boolean[] = [];
  let loop: Promise<void> | undefined;
  await tracer.trace(root, async () => {
    loop = (async () => {
      seen.push(tracer.current !== undefined);
      await clock.sleep(1);
      seen.push(tracer.current !== undefined);
    })();
    await Promise.resolve();
  });
  await clock.advance(1);
  await loop;
  expect(seen).toEqual([true, false]);
  expect(tracer.current).toBeUndefined();
});

test.each([
  [new KubeError({ code: 409, reason: 'Conflict', retryable: true }), 'Conflict'],
  [new TypeError('s3cret'), 'TypeError'],
  ['s3cret', 'unknown'],
])('an error reaches the caller, and the span names its class or reason only', async (thrown, type) => {
  const { spans, tracer } = traced();
  const work = tracer.trace(root, async () => {
    await Promise.resolve();
    // oxlint-disable-next-line typescript/only-throw-error -- one of the cases
    throw thrown;
  });
  await expect(work).rejects.toBe(thrown);
  expect(spans).toMatchObject([{ attributes: { 'error.type': type } }]);
  expect(JSON.stringify(spans)).not.toContain('s3cret');
});

test('what is said later is added to what was said at the start', async () => {
  const { spans, tracer } = traced();
  await tracer.trace({ ...root, attributes: { a: 1, b: 1 } }, async () => {
    await Promise.resolve();
    tracer.describe({ b: 2, c: 'x' });
  });
  tracer.describe({ d: 'after the end' });
  expect(spans[0]?.attributes).toEqual({ a: 1, b: 2, c: 'x' });
});
