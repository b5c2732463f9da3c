// What is counted of the way to the API server, and that the silence of watches is measured when it is read.
import { expect, test } from 'vitest';
import { ConnectionMetrics, WatchMetrics } from '../../../src/observe/connection-metrics.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';

const ours = async (registry: MetricsRegistry): Promise<readonly string[]> =>
  (await registry.render()).split('\n').filter((line) => /^reeve_(api|watch)_/.test(line));

test('what is turned away is there from the start', async () => {
  const registry = new MetricsRegistry();
  const metrics = new ConnectionMetrics(registry);
  metrics.turnedAway(429);
  metrics.turnedAway(429);
  expect(await ours(registry)).toEqual([
    'reeve_api_refusals_total{code="401"} 0',
    'reeve_api_refusals_total{code="429"} 2',
  ]);
});

test('of several watches of a path the one that is silent for longest counts, and no watch that is gone', async () => {
  const registry = new MetricsRegistry();
  let watches = [
    { path: '/a', silentMs: 1500 },
    { path: '/b', silentMs: 100 },
    { path: '/b', silentMs: 70_000 },
    { path: '/b', silentMs: 200 },
  ];
  const metrics = new WatchMetrics(registry, () => watches);
  metrics.interrupted('/a', 'Stalled');
  expect(await ours(registry)).toEqual([
    'reeve_watch_interruptions_total{path="/a",reason="Stalled"} 1',
    'reeve_watch_silence_seconds{path="/a"} 1.5',
    'reeve_watch_silence_seconds{path="/b"} 70',
  ]);
  watches = [{ path: '/a', silentMs: 2000 }];
  expect(await ours(registry)).toContain('reeve_watch_silence_seconds{path="/a"} 2');
  expect((await ours(registry)).join()).not.toContain('/b');
});
