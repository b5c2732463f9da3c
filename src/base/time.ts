// Reads durations and dates as policies and the API server write them, and writes dates as it stores them.

/** Hours, minutes and seconds in this order, each at most once, at least one: `168h`, `30m`, `1h30m`. */
export const durationPattern = '^([0-9]{1,7}h)?([0-9]{1,7}m)?([0-9]{1,7}s)?$';

const policyUnits = { h: 3_600_000, m: 60_000, s: 1000 } as const;

/** Returns milliseconds; undefined when the text is not a duration as policies write it. */
export function parseDuration(text: string): number | undefined {
  const match = text === '' ? null : new RegExp(durationPattern).exec(text);
  if (match === null) return undefined;
  const [, hours, minutes, seconds] = match;
  return amount(hours) * policyUnits.h + amount(minutes) * policyUnits.m + amount(seconds) * policyUnits.s;
}

interface End {
  readonly expiresAfter?: string;
  readonly expiresAt?: string;
}

/** Returns the end in milliseconds since the epoch. Undefined without one. `created` is a time as the API server writes it. */
export function endOf({ expiresAfter, expiresAt }: End, created: unknown): number | undefined {
  if (expiresAt !== undefined) return Date.parse(expiresAt);
  const lifetime = expiresAfter === undefined ? undefined : parseDuration(expiresAfter);
  return lifetime === undefined || typeof created !== 'string' ? undefined : Date.parse(created) + lifetime;
}

/** `30m` is 30; a missing part is 0. */
function amount(part: string | undefined): number {
  return part === undefined ? 0 : Number(part.slice(0, -1));
}

const goUnits: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/** No real duration is longer. The limit keeps the work on a hostile text small. */
const maxGoDurationLength = 64;
const goPart = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;

/**
 * Returns milliseconds; undefined when the text is not a duration, or a negative one. Reads Go's format `1m30s`, `250ms`,
 * which the API server uses for its timeout. https://pkg.go.dev/time#ParseDuration
 */
export function parseGoDuration(text: string): number | undefined {
  const unsigned = text.startsWith('+') ? text.slice(1) : text;
  if (unsigned === '0') return 0;
  if (unsigned === '' || unsigned.length > maxGoDurationLength) return undefined;
  let total = 0;
  let end = 0;
  for (const [whole, number, unit] of unsigned.matchAll(goPart)) {
    total += Number(number) * (goUnits.get(unit ?? '') ?? Number.NaN);
    end += whole.length;
  }
  return end === unsigned.length && Number.isFinite(total) ? total : undefined;
}

/** RFC 3339 with a full date, a time and an offset, as `metav1.Time` reads it. */
const dateTimePattern =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

export function isDateTime(text: string): boolean {
  const match = dateTimePattern.exec(text);
  if (match === null) return false;
  const [, year, month, day] = match.map(Number);
  return day !== undefined && day >= 1 && day <= daysIn(year ?? 0, month ?? 0);
}

/** 0 for a month that does not exist. */
function daysIn(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** A time as `metav1.Time` reads it. The format alone would let the API server accept a small t and z. */
export const timePattern =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])$';

/** Returns milliseconds since the epoch, NaN for any other text: `Date.parse` alone reads `8` as a year. */
export function parseTime(text: string): number {
  return new RegExp(timePattern).test(text) ? Date.parse(text) : Number.NaN;
}

/** Writes a date as the API server writes `metav1.Time`: `2027-01-31T00:00:00Z`, without a fraction of zero. */
export function rfc3339(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z');
}

/**
 * Writes a date as Leases and Events hold it: UTC with six digits after the point.
 * https://kubernetes.io/docs/reference/kubernetes-api/definitions/micro-time-v1-meta/
 */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
