// Timestamps and durations: making them, and their parts (in UTC).
import { DURATION, INT, STRING, TIMESTAMP } from '../types/type.ts';
import { evaluationError } from '../values/evaluation-error.ts';
import { Duration, durationFromText, timestampFromText, Timestamp } from '../values/time.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

const NOT_A_DURATION = evaluationError('the text is not a duration such as 1h30m');
const NOT_A_TIME = evaluationError('this is not a time such as 2026-01-31T00:00:00Z');
const MILLISECOND = 1_000_000n;
const SECOND = 1000n * MILLISECOND;
const DAY = 86_400_000;

export const timeFunctions: readonly FunctionDefinition[] = [
  defineFunction('duration', [DURATION], DURATION, (duration) => duration),
  defineFunction('duration', [INT], DURATION, (nanos) => Duration.of(nanos)),
  defineFunction('duration', [STRING], DURATION, (text) => durationFromText(text) ?? NOT_A_DURATION),
  defineFunction('timestamp', [TIMESTAMP], TIMESTAMP, (time) => time),
  defineFunction('timestamp', [INT], TIMESTAMP, (seconds) => Timestamp.of(seconds * SECOND) ?? NOT_A_TIME),
  defineFunction('timestamp', [STRING], TIMESTAMP, (text) => timestampFromText(text) ?? NOT_A_TIME),

  defineMethod('getHours', [DURATION], INT, (duration) => duration.in(3600n * SECOND)),
  defineMethod('getMinutes', [DURATION], INT, (duration) => duration.in(60n * SECOND)),
  defineMethod('getSeconds', [DURATION], INT, (duration) => duration.in(SECOND)),
  defineMethod('getMilliseconds', [DURATION], INT, (duration) => duration.in(MILLISECOND)),

  defineMethod('getFullYear', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCFullYear())),
  defineMethod('getMonth', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCMonth())),
  defineMethod('getDate', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCDate())),
  defineMethod('getDayOfMonth', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCDate() - 1)),
  defineMethod('getDayOfWeek', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCDay())),
  defineMethod('getDayOfYear', [TIMESTAMP], INT, ({ date }) => dayOfYear(date)),
  defineMethod('getHours', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCHours())),
  defineMethod('getMinutes', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCMinutes())),
  defineMethod('getSeconds', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCSeconds())),
  defineMethod('getMilliseconds', [TIMESTAMP], INT, ({ fraction }) => fraction / MILLISECOND),
];

/** From 0. */
function dayOfYear(date: Date): bigint {
  const newYear = new Date(0).setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return BigInt(Math.floor((date.getTime() - newYear) / DAY));
}
