// Checks that a list-watch does not keep delivered objects, which may be large or secret.
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import type { WatchSink } from '../../../../src/base/watch-sink.ts';
import { added, answers, bookmark, item, list, run } from './list-watch-harness.ts';
import { stream } from '../../../support/fake-api-server.ts';

/** Remembers objects without keeping them in memory. */
class ForgetfulSink implements WatchSink {
  readonly #seen: WeakRef<KubeObject>[] = [];

  replaced(objects: readonly KubeObject[]): void {
    for (const object of objects) this.changed(object);
  }

  changed(object: KubeObject): void {
    this.#seen.push(new WeakRef(object));
  }

  removed(object: KubeObject): void {
    this.changed(object);
  }

  get alive(): readonly (string | undefined)[] {
    return this.#seen.map((seen) => seen.deref()?.metadata.name);
  }
}

/** https://nodejs.org/api/cli.html#--expose-gc */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // A dereferenced WeakRef keeps its object until the end of the turn.
  await setImmediate();
  collect();
}

test('objects of lists and of events are not kept during the watch', async () => {
  const sink = new ForgetfulSink();
  const watching = stream([added('c', 11), added('d', 12), bookmark(13)]);
  const { time, asked } = run(answers(list(10, [item('a', 1), item('b', 2)]), watching), sink);
  await time.settle();
  expect(asked()).toEqual(['list', 'watch 10']);
  expect(sink.alive).toHaveLength(4);
  await collectGarbage();
  expect(sink.alive).toEqual([undefined, undefined, undefined, undefined]);
});
