// Serial numbers are positive whatever the random bytes are.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { positiveSerial, serialLength } from '../../../../src/certs/issue/encode.ts';

describe('positiveSerial', () => {
  test.for([
    ['all zeros', Buffer.alloc(serialLength, 0x00), `40${'00'.repeat(15)}`],
    ['all ones', Buffer.alloc(serialLength, 0xff), `7f${'ff'.repeat(15)}`],
    ['only the top bit', Buffer.concat([Buffer.of(0x80), Buffer.alloc(15)]), `40${'00'.repeat(15)}`],
  ] as const)('the serial number of %s is positive and in its shortest encoding', ([, bytes, serial]) => {
    expect(positiveSerial(bytes)).toBe(serial);
  });

  test('a serial number is positive, 16 bytes long and never repeats', () => {
    const serials = Array.from({ length: 5000 }, () => positiveSerial(randomBytes(serialLength)));
    expect(serials.filter((serial) => !/^[4-7][0-9a-f]{31}$/.test(serial))).toEqual([]);
    expect(new Set(serials).size).toBe(5000);
  });

  test('it leaves the given bytes alone', () => {
    const bytes = Buffer.alloc(serialLength, 0xff);
    positiveSerial(bytes);
    expect(bytes).toEqual(Buffer.alloc(serialLength, 0xff));
  });

  test.for([0, 15, 17])('it refuses %d bytes', (length) => {
    expect(() => positiveSerial(Buffer.alloc(length))).toThrow(RangeError);
  });
});
