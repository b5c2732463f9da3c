// The system clock in the shape that src/kube takes.
import { systemClock } from './clock.ts';

export const pacing = {
  clock: systemClock,
  now: (): Date => systemClock.now(),
  random: (): number => systemClock.random(),
  sleep: async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    await systemClock.sleep(milliseconds, signal);
  },
};
