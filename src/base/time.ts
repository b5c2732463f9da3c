// Durations and times as policies write them.

const unitMilliseconds = { h: 3_600_000, m: 60_000, s: 1000 } as const;

/** Hours, minutes and seconds in this order, each at most once, at least one: `168h`, `30m`, `1h30m`. */
export const durationPattern = '^([0-9]{1,7}h)?([0-9]{1,7}m)?([0-9]{1,7}s)?$';

/** Milliseconds; undefined when the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const match = text === '' ? null : new RegExp(durationPattern).exec(text);
  if (match === null) return undefined;
  const [, hours, minutes, seconds] = match;
  return (
    amount(hours) * unitMilliseconds.h +
    amount(minutes) * unitMilliseconds.m +
    amount(seconds) * unitMilliseconds.s
  );
}

/** `30m` -> 30; a part that is missing counts for nothing. */
function amount(part: string | undefined): number {
  return part === undefined ? 0 : Number(part.slice(0, -1));
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
