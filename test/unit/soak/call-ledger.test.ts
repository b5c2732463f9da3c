// Which failed calls are excused: those that a fault is to bring about, while it lasts.
import { expect, test } from 'vitest';
import { CallLedger } from '../../soak/call-ledger.ts';

const failure = { status: 500, message: 'failed calling webhook', body: undefined };

function ledgerAt(): { readonly ledger: CallLedger; readonly clock: { now: number } } {
  const clock = { now: 0 };
  return { ledger: new CallLedger(() => clock.now), clock };
}

test('a call that fails without a fault is not excused', () => {
  const { ledger } = ledgerAt();
  ledger.failed('write', failure, 0);
  ledger.done('write', { ...failure, status: 200 });
  expect(ledger.totals).toMatchObject({ calls: 2, failed: 1, excused: {}, byOutcome: { 'write: 200': 1 } });
});

test.each([
  ['began while it lasted, though it ended later', 5, true],
  ['began before it, and met it', -5, true],
  ['began after it', 15, false],
])('a call that %s', (_, began, isExcused) => {
  const { ledger, clock } = ledgerAt();
  const over = ledger.excuse('outage', () => true);
  clock.now = 10;
  over();
  clock.now = 20;
  ledger.failed('write', failure, began);
  expect(ledger.totals.failed).toBe(isExcused ? 0 : 1);
  expect(ledger.totals.excused).toEqual(isExcused ? { outage: 1 } : {});
});

test('a fault excuses only what it is to bring about, and is named beside the rest', () => {
  const { ledger } = ledgerAt();
  ledger.excuse('kill', ({ message }) => message.includes('EOF'));
  ledger.failed('write', failure, 0);
  expect(ledger.totals.failures).toMatchObject([{ action: 'write', status: 500, during: ['kill'] }]);
});
