// Reads and writes timestamps and durations with nanoseconds, as Go does.
import { Boxed } from './value.ts';

const SECOND = 1_000_000_000n;
/** From year 1 to the end of year 9999. */
const FIRST = -62_135_596_800n * SECOND;
const AFTER_LAST = 253_402_300_800n * SECOND;
const MAX_DURATION = 2n ** 63n - 1n;

export class Timestamp extends Boxed {
  readonly kind = 'google.protobuf.Timestamp';
  /** Since 1970. */
  readonly nanos: bigint;

  /** Minutes east of Greenwich as written; toString() keeps them. */
  readonly offset: number;

  private constructor(nanos: bigint, offset: number) {
    super();
    this.nanos = nanos;
    this.offset = offset;
  }

  static of(nanos: bigint, offset = 0): Timestamp | undefined {
    return nanos >= FIRST && nanos < AFTER_LAST ? new Timestamp(nanos, offset) : undefined;
  }

  equals(other: this): boolean {
    return this.nanos === other.nanos;
  }

  get seconds(): bigint {
    return floorDivide(this.nanos, SECOND);
  }

  /** Nanoseconds within the second. */
  get fraction(): bigint {
    return this.nanos - this.seconds * SECOND;
  }

  get date(): Date {
    return new Date(Number(this.seconds) * 1000);
  }

  override toString(): string {
    const local = new Date(this.date.getTime() + this.offset * 60_000).toISOString();
    return `${local.slice(0, local.indexOf('.'))}${fractionText(this.fraction)}${zoneText(this.offset)}`;
  }
}

export class Duration extends Boxed {
  readonly kind = 'google.protobuf.Duration';
  readonly nanos: bigint;

  private constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }

  static of(nanos: bigint): Duration | undefined {
    return nanos >= -MAX_DURATION - 1n && nanos <= MAX_DURATION ? new Duration(nanos) : undefined;
  }

  equals(other: this): boolean {
    return this.nanos === other.nanos;
  }

  /** Returns whole units, rounded towards zero. */
  in(unit: bigint): bigint {
    return this.nanos / unit;
  }

  /** As in Go, a double in between loses the nanoseconds of long durations. */
  override toString(): string {
    const magnitude = this.nanos < 0n ? -this.nanos : this.nanos;
    const seconds = Number(magnitude / SECOND) + Number(magnitude % SECOND) / 1e9;
    // JavaScript would write the shortest durations with an exponent.
    const text = magnitude < 1000n ? `0${fractionText(magnitude)}` : String(seconds);
    return this.nanos < 0n ? `-${text}s` : `${text}s`;
  }
}

function zoneText(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.abs(offset);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${offset < 0 ? '-' : '+'}${hours}:${rest}`;
}

function fractionText(nanos: bigint): string {
  return nanos === 0n ? '' : `.${nanos.toString().padStart(9, '0').replace(/0+$/, '')}`;
}

function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}

/** Like Go, accepts an hour of one digit: https://pkg.go.dev/time#Parse */
const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:(Z)|([+-])(\d{2}):(\d{2}))$/;

/** Returns undefined for a text that is not a time in RFC 3339 between the years 1 and 9999. */
export function timestampFromText(text: string): Timestamp | undefined {
  const parts = RFC3339.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0] = parts.slice(1, 4).map(Number);
  const secondOfDay = parseTime(parts.slice(4, 7).map(Number));
  const offset = parseOffset(parts.slice(9, 12));
  if (secondOfDay === undefined || offset === undefined || !isDay(year, month, day)) return undefined;
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day) / 1000;
  const seconds = midnight + secondOfDay - offset * 60;
  return Timestamp.of(BigInt(seconds) * SECOND + nanosOf(parts[7]), offset);
}

function parseTime([hour = 0, minute = 0, second = 0]: readonly number[]): number | undefined {
  return hour > 23 || minute > 59 || second > 59 ? undefined : hour * 3600 + minute * 60 + second;
}

/** Minutes east of Greenwich. */
function parseOffset([sign, hours, minutes]: readonly (string | undefined)[]): number | undefined {
  const [offsetHours, offsetMinutes] = [Number(hours ?? 0), Number(minutes ?? 0)];
  if (offsetHours > 24 || offsetMinutes > 60) return undefined;
  return (sign === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes);
}

function nanosOf(fraction: string | undefined): bigint {
  return BigInt((fraction ?? '').slice(0, 9).padEnd(9, '0'));
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', SECOND],
  ['m', 60n * SECOND],
  ['h', 3600n * SECOND],
]);
const DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const TERM = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;
const MAX_TEXT = 1000;

/** Go's time.ParseDuration: `1h30m`, `-1.5s`. Returns undefined for other texts and for too long durations. */
export function durationFromText(text: string): Duration | undefined {
  if (text.length > MAX_TEXT || !DURATION.test(text)) return undefined;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(TERM)) {
    const size = UNITS.get(unit) ?? 0n;
    const scale = 10n ** BigInt(fraction.length);
    total +=
      BigInt(whole === '' ? 0 : whole) * size + (BigInt(fraction === '' ? 0 : fraction) * size) / scale;
  }
  return Duration.of(text.startsWith('-') ? -total : total);
}
