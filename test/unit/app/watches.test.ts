// What the end of a watch is counted as, and that no word of a server gets into a label.
import { expect, test } from 'vitest';
import { interruptionReason } from '../../../src/app/watches.ts';

test.each([
  [0, 'Stalled', 'Stalled'],
  [0, 'ClosedEarly', 'ClosedEarly'],
  [0, 'ECONNRESET', 'Disconnected'],
  [200, 'MalformedAnswer', 'MalformedAnswer'],
  [401, 'Unauthorized', 'Unauthorized'],
  [403, 'Forbidden', 'Forbidden'],
  [410, 'Gone', 'Expired'],
  [429, 'TooManyRequests', 'TooManyRequests'],
  [500, 'InternalError', 'ServerError'],
  [599, 'Whatever', 'ServerError'],
  [418, 'Whatever', 'Refused'],
])('a watch error %d %s is counted as %s', (code, reason, counted) => {
  expect(interruptionReason({ code, reason })).toBe(counted);
});
