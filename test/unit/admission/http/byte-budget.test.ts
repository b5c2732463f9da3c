// The bytes that all requests together may hold: what is taken, refused and given back.
import { expect, test } from 'vitest';
import { ByteBudget } from '../../../../src/admission/http/exchange.ts';

test('all requests together never hold more bytes than the total', () => {
  const budget = new ByteBudget(10);
  const first = budget.open();
  const second = budget.open();
  expect(first.take(6)).toBe(true);
  expect(second.take(5)).toBe(false);
  expect(second.take(4)).toBe(true);
  expect(budget.hasRoomFor(1)).toBe(false);
  first.close();
  expect(budget.hasRoomFor(6)).toBe(true);
  expect(budget.hasRoomFor(7)).toBe(false);
});

test('bytes are released once, however often a request is closed', () => {
  const budget = new ByteBudget(10);
  const lease = budget.open();
  lease.take(4);
  lease.close();
  lease.close();
  expect(budget.hasRoomFor(10)).toBe(true);
  expect(budget.hasRoomFor(11)).toBe(false);
});
