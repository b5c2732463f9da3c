// secrets.maxBytes: limits the total size of the values of a Secret.
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
