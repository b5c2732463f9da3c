// Compares spans with their JSON in OTLP, as the specification shows it.
import { expect, test } from 'vitest';
import { otlpBody, type Span, type Tracer } from '../../../src/observe/tracer.ts';

type SpanStart = Parameters<Tracer['trace']>[0];

const parent = { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b173', isSampled: true };
const start: SpanStart = { name: 'review', kind: 'server', parent };
const span: Span = {
  ...parent,
  spanId: 'eee19b7ec3c1b174',
  start,
  attributes: {},
  startMs: 1_544_712_660_000,
  endMs: 1_544_712_661_000.25,
  offsetMs: 0,
};

function bodyOf(...spans: readonly Span[]): unknown {
  return JSON.parse(otlpBody({ 'service.name': 'reeve' }, spans));
}

function spanOf(changes: Partial<Span>): Readonly<Record<string, unknown>> {
  const { resourceSpans } = bodyOf({ ...span, ...changes }) as {
    readonly resourceSpans: readonly [
      { readonly scopeSpans: readonly [{ readonly spans: readonly [object] }] },
    ];
  };
  return { ...resourceSpans[0].scopeSpans[0].spans[0] };
}

test('all spans of a batch stand below one resource and one scope', () => {
  const written = {
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: 'eee19b7ec3c1b174',
    parentSpanId: 'eee19b7ec3c1b173',
    name: 'review',
    kind: 2,
    startTimeUnixNano: '1544712660000000000',
    endTimeUnixNano: '1544712661000250000',
    attributes: [],
    status: {},
  };
  expect(bodyOf(span, span)).toEqual({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'reeve' } }] },
        scopeSpans: [{ scope: { name: 'reeve' }, spans: [written, written] }],
      },
    ],
  });
});

test.each([
  ['work inside', { start: { ...start, kind: 'internal' } }, { kind: 1 }],
  ['a request to another server', { start: { ...start, kind: 'client' } }, { kind: 3 }],
  ['work that failed', { attributes: { 'error.type': 'Conflict' } }, { status: { code: 2 } }],
  ['a text', { attributes: { a: 'ö"\n' } }, { attributes: [{ key: 'a', value: { stringValue: 'ö"\n' } }] }],
  ['an integer', { attributes: { a: 3 } }, { attributes: [{ key: 'a', value: { intValue: '3' } }] }],
  ['a truth', { attributes: { a: false } }, { attributes: [{ key: 'a', value: { boolValue: false } }] }],
  [
    'a hostile name',
    { attributes: Object.fromEntries([['__proto__', 'x']]) },
    { attributes: [{ key: '__proto__', value: { stringValue: 'x' } }] },
  ],
] as const)('%s is written as OTLP requires', (_what, changes, written) => {
  expect(spanOf(changes)).toMatchObject(written);
});

test('a span that begins a trace has no parent', () => {
  expect(spanOf({ start: { ...start, parent: undefined } })).not.toHaveProperty('parentSpanId');
});

test('a fraction of a microsecond is rounded, and no digit is lost', () => {
  expect(spanOf({ startMs: 1_795_000_000_000 + 123.4567 })['startTimeUnixNano']).toBe('1795000000123457000');
});
