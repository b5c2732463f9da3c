// Checks properties of a list-watch for any history of changes and any cuts of the network.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import type { WatchSink } from '../../../../src/base/watch-sink.ts';
import { networkError, stream } from '../../../support/fake-api-server.ts';
import { added, deleted, list, modified, run } from './list-watch-harness.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

/** A sink that keeps what a list-watch delivers. */
class MirrorSink implements WatchSink {
  readonly objects = new Map<string, string>();
  readonly seen: number[] = [];

  replaced(all: readonly KubeObject[]): void {
    this.objects.clear();
    for (const object of all) this.#keep(object);
  }

  changed(object: KubeObject): void {
    this.seen.push(Number(object.metadata['resourceVersion']));
    this.#keep(object);
  }

  removed(object: KubeObject): void {
    this.seen.push(Number(object.metadata['resourceVersion']));
    this.objects.delete(object.metadata.name ?? '');
  }

  #keep({ metadata }: KubeObject): void {
    this.objects.set(metadata.name ?? '', `${metadata.uid ?? ''}:${String(metadata['resourceVersion'])}`);
  }
}

test('every event arrives once, sorted by version, and the final state is right, however the bytes are cut', async () => {
  const names = fc.constantFrom('a', 'ö', 'c');
  const cut = fc.integer({ min: 1, max: 400 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(names, { minLength: 1, maxLength: 20 }),
      fc.array(cut, { maxLength: 30 }),
      async (writes, cuts) => {
        const present = new Map<string, number>();
        const history = writes.map((name, index) => {
          const version = index + 1;
          const isThere = present.has(name);
          if (isThere && version % 3 === 0) {
            present.delete(name);
            return deleted(name, version);
          }
          present.set(name, version);
          return isThere ? modified(name, version) : added(name, version);
        });
        let watches = 0;
        const sink = new MirrorSink();
        const { time, health } = run(
          ({ query = {} }) => {
            if (query['limit'] === '1') return list(history.length, []);
            if (query['watch'] === undefined) return list(0, []);
            const bytes = Buffer.from(history.slice(Number(query['resourceVersion'])).join(''));
            const end = cuts[watches];
            watches += 1;
            if (end === undefined) return stream([bytes]);
            // Two chunks also split characters; the rest is cut off.
            return stream(
              [bytes.subarray(0, end >> 1), bytes.subarray(end >> 1, end)],
              end % 2 === 0 ? 'end' : networkError(),
            );
          },
          sink,
          { stallMs: 1e9 },
        );
        await time.advance(1_000_000);
        health.stop();
        expect(sink.seen).toEqual(writes.map((_, index) => index + 1));
        expect([...sink.objects.keys()].sort()).toEqual([...present.keys()].sort());
      },
    ),
    { numRuns: propertyRuns(100) },
  );
});
