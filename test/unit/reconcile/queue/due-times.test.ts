import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { DueTimes } from '../../../../src/reconcile/queue/due-times.ts';

test('gives out keys by their earliest times, each once, and not before', () => {
  const op = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), key: fc.nat(12), at: fc.nat(100) }),
    fc.record({ kind: fc.constant('delete' as const), key: fc.nat(12) }),
    fc.record({ kind: fc.constant('take' as const), now: fc.nat(100) }),
  );
  fc.assert(
    fc.property(fc.array(op, { maxLength: 80 }), (ops) => {
      const due = new DueTimes<number>();
      const model = new Map<number, number>();
      for (const each of ops) {
        if (each.kind === 'set') {
          due.set(each.key, each.at);
          model.set(each.key, Math.min(model.get(each.key) ?? Infinity, each.at));
        } else if (each.kind === 'delete') {
          due.delete(each.key);
          model.delete(each.key);
        } else {
          const first = Math.min(...model.values());
          const key = due.take(each.now);
          if (first > each.now) expect(key).toBeUndefined();
          else expect(key === undefined ? undefined : model.get(key)).toBe(first);
          if (key !== undefined) model.delete(key);
        }
        expect(due.size).toBe(model.size);
        expect(due.next()).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
      }
    }),
  );
});
