// Reads and writes the header `traceparent`. https://www.w3.org/TR/trace-context/#traceparent-header

/** Names a span of this process, or of the process that called it. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  /** False: the process that began the trace decided not to record it. */
  readonly isSampled: boolean;
}

/** Ids of zeros are not valid. Only later versions may have more fields. */
const pattern =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|(?<!^00.*)-.)/;

/** Undefined when the header is missing or not valid: then a new trace begins. */
export function parseTraceparent(header: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags = ''] = (typeof header === 'string' && pattern.exec(header)) || [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, isSampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
