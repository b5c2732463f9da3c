// Reads the header `traceparent` of hostile and of later clients.
import { expect, test } from 'vitest';
import { parseTraceparent, traceparentOf } from '../../../src/observe/tracer.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test.each([
  [`00-${traceId}-${spanId}-01`, true],
  [`00-${traceId}-${spanId}-00`, false],
  // Flags that are not known yet.
  [`00-${traceId}-${spanId}-03`, true],
  [`00-${traceId}-${spanId}-fe`, false],
  // A later version, with and without more fields.
  [`cc-${traceId}-${spanId}-01`, true],
  [`cc-${traceId}-${spanId}-01-what-the-future-brings`, true],
])('%s is a parent, and whether it is sampled is %s', (header, isSampled) => {
  expect(parseTraceparent(header)).toEqual({ traceId, spanId, isSampled });
});

test.each([
  [undefined],
  [''],
  ['x'],
  [[`00-${traceId}-${spanId}-01`]],
  [`00-${traceId}-${spanId}-01-more`],
  [`ff-${traceId}-${spanId}-01`],
  [`00-${'0'.repeat(32)}-${spanId}-01`],
  [`00-${traceId}-${'0'.repeat(16)}-01`],
  [`00-${traceId.toUpperCase()}-${spanId}-01`],
  [`00-${traceId}-${spanId}`],
  [`00-${traceId}-${spanId}-1`],
  [`00-${traceId}-${spanId}-01\n`],
  // Node joins two headers of this name.
  [`00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
])('%j is no parent, so a new trace begins', (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});

test.each([[true], [false]])('a span that is sampled (%s) is read as it was written', (isSampled) => {
  const context = { traceId, spanId, isSampled };
  expect(parseTraceparent(traceparentOf(context))).toEqual(context);
});
