// Polls for a state that a cluster reaches by itself. It polls slowly, because each poll sends several requests.
import { eventually } from '../../support/eventually.ts';

export function inTime<T>(value: () => T): ReturnType<typeof eventually<T>> {
  return eventually(value, 100);
}
