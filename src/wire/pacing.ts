// The clock, the chance and the sleep of the real world, for whoever takes them as ports.
import { setTimeout } from 'node:timers/promises';
import { systemClock } from './system-clock.ts';

export const pacing = {
  clock: systemClock,
  now: systemClock.now,
  random: (): number => Math.random(),
  sleep: async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    await setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal });
  },
};
