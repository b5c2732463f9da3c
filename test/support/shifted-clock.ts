// Loaded into a process before its program: lets a test set the time of day. The monotonic clock is not changed.
import { readFileSync } from 'node:fs';

const Real = Date;
let shiftMs = 0;

globalThis.Date = new Proxy(Real, {
  construct: (target, values: unknown[]) =>
    Reflect.construct(target, values.length === 0 ? [target.now() + shiftMs] : values) as Date,
  get: (target, key) =>
    key === 'now' ? () => target.now() + shiftMs : (Reflect.get(target, key) as unknown),
});

process.on('SIGUSR2', () => {
  shiftMs = Number(readFileSync(process.env['CLOCK_FILE'] ?? '', 'utf8'));
});
