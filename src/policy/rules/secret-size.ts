// secrets.maxBytes: how large the values of a Secret may be in all.
import type { Rule } from './rule.ts';
import { secretSize } from './secret-values.ts';

export function maxBytesRule(maxBytes: number): Rule {
  return {
    shape: 'state',
    id: 'secrets.maxBytes',
    graced: true,
    judge(secret) {
      const size = secretSize(secret);
      if (size <= maxBytes) return [];
      const identity = String(size);
      return [{ path: 'data', found: `${size} bytes`, accepted: `at most ${maxBytes} bytes`, identity }];
    },
  };
}
