// Measures work as spans, and knows which span the calling code belongs to.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { KubeError } from '../base/kube-error.ts';

/** The types are simple, so that no Kubernetes object can get into a span. Numbers are whole. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  /** `server`: answers a request. `client`: sends one. https://opentelemetry.io/docs/specs/otel/trace/api/#spankind */
  readonly kind: 'internal' | 'server' | 'client';
  /** Undefined begins a trace, and this trace is recorded. */
  readonly parent: SpanContext | undefined;
  readonly attributes?: Attributes;
}

export interface Span extends SpanContext {
  readonly start: SpanStart;
  /** `error.type` means an error of the work. */
  attributes: Attributes;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  endMs?: number;
  /** Added to the monotonic time, this gives a date. The date alone has no fractions, and may be set back. */
  readonly offsetMs: number;
}

export class Tracer {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #ended: (span: Span) => void;
  readonly #spans = new AsyncLocalStorage<Span>();

  /** `ended` receives each sampled span. */
  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, ended: (span: Span) => void) {
    this.#clock = clock;
    this.#ended = ended;
  }

  /** The span of the calling code. Undefined once the span has ended, because a loop that the work started may live longer. */
  get current(): Span | undefined {
    const span = this.#spans.getStore();
    return span?.endMs === undefined ? span : undefined;
  }

  /** Adds to the current span. Without a current span, does nothing. */
  describe(attributes: Attributes): void {
    const { current } = this;
    if (current !== undefined) current.attributes = { ...current.attributes, ...attributes };
  }

  /** Runs the work in a span that ends with it. */
  async trace<T>(start: SpanStart, work: () => Promise<T>): Promise<T> {
    const span = this.#begin(start);
    return await this.#spans.run(span, async () => {
      try {
        return await work();
      } catch (error) {
        this.describe(errorAttributes(error));
        throw error;
      } finally {
        span.endMs = span.offsetMs + this.#clock.monotonic();
        if (span.isSampled) this.#ended(span);
      }
    });
  }

  #begin(start: SpanStart): Span {
    const { parent, attributes = {} } = start;
    const monotonic = this.#clock.monotonic();
    const { current } = this;
    const offsetMs =
      parent !== undefined && parent === current ? current.offsetMs : this.#clock.now().getTime() - monotonic;
    return {
      start,
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      isSampled: parent?.isSampled ?? true,
      attributes,
      startMs: offsetMs + monotonic,
      offsetMs,
    };
  }
}

/** Names the class or the reason of an error. Its message could quote the request. */
function errorAttributes(error: unknown): Attributes {
  if (error instanceof KubeError)
    return { 'error.type': error.reason, 'http.response.status_code': error.code };
  return { 'error.type': error instanceof Error ? error.name : 'unknown' };
}

// Reads and writes the header `traceparent`. https://www.w3.org/TR/trace-context/#traceparent-header

/** Names a span of this process, or of the process that called it. */
interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  /** False if the process that began the trace decided not to record it. */
  readonly isSampled: boolean;
}

/** Ids of zeros are not valid. Only later versions may have more fields. */
const pattern =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|(?<!^00.*)-.)/;

/** Returns undefined for a missing or invalid header. Then a new trace begins. */
export function parseTraceparent(header: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags = ''] = (typeof header === 'string' && pattern.exec(header)) || [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, isSampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
