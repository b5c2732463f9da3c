// Tests when the watch of a kind starts that the API server may serve later.
import { expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import { startOnceServed } from '../../../src/app/watches.ts';
import type { ServedKind } from '../../../src/kube/object-writer.ts';
import type { Log } from '../../../src/observe/log.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const served = { plural: 'octopodes', namespaced: true };
const noAnswer = new KubeError({ code: 503, reason: 'ServiceUnavailable', retryable: true });

/** Each look gets the next answer; the last answer stays. */
function started(...answers: readonly (ServedKind | undefined | KubeError)[]) {
  const clock = new VirtualClock();
  const news: string[] = [];
  let looks = 0;
  const answer = (): Promise<ServedKind | undefined> => {
    const next = answers[Math.min(looks, answers.length - 1)];
    looks += 1;
    return next instanceof KubeError ? Promise.reject(next) : Promise.resolve(next);
  };
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message) => void news.push(message),
    error: () => undefined,
    close: () => Promise.resolve(),
    dropped: () => 0,
  };
  const nothing = (): void => undefined;
  const watch = {
    type: { apiVersion: 'example.com/v1', kind: 'Octopus' },
    sink: {
      replaced: (objects: readonly unknown[]) => void news.push(`${objects.length} objects`),
      changed: nothing,
      removed: nothing,
    },
    absence: 'warn' as const,
    start: (plural: string) => void news.push(`watch of ${plural}`),
  };
  const discovery = { find: answer, refresh: () => Promise.resolve() };
  const abort = new AbortController();
  const ended = startOnceServed(watch, { discovery }, log, abort.signal, clock);
  return { clock, news, abort, ended };
}

test('the watch of a served kind starts at once, under the name that discovery gives', async () => {
  const { ended, news } = started(served);
  await ended;
  expect(news).toEqual(['watch of octopodes']);
});

test('a kind that is not served has no objects, is reported once, and its watch starts when it is served', async () => {
  const { clock, ended, news } = started(undefined, undefined, served);
  await clock.advance(1000);
  expect(news).toEqual(['kind not served', '0 objects']);
  await clock.advance(1000);
  await ended;
  expect(news).toEqual(['kind not served', '0 objects', 'watch of octopodes']);
});

test('without an answer nothing is known, so the kind does not count as one without objects', async () => {
  const { clock, ended, news } = started(noAnswer, noAnswer, served);
  await clock.advance(1000);
  expect(news).toEqual([]);
  await clock.advance(1000);
  await ended;
  expect(news).toEqual(['watch of octopodes']);
});

test('a program that ends gives up the watch', async () => {
  const { clock, abort, ended, news } = started(undefined);
  await clock.advance(1000);
  abort.abort();
  await ended;
  expect(news).not.toContain('watch of octopodes');
});
