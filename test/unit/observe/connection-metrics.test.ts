// Checks the counters of refusals and interruptions, and the silence of watches.
import { expect, test } from 'vitest';
import { ConnectionMetrics, WatchMetrics } from '../../../src/observe/connection-metrics.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';

const ours = async (registry: MetricsRegistry): Promise<readonly string[]> =>
  (await registry.render()).split('\n').filter((line) => /^reeve_(api|watch)_/.test(line));

test('the counters of refusals exist from the start', async () => {
  const registry = new MetricsRegistry();
  const metrics = new ConnectionMetrics(registry);
  metrics.refused(429);
  metrics.refused(429);
  expect(await ours(registry)).toEqual([
    'reeve_api_refusals_total{code="401"} 0',
    'reeve_api_refusals_total{code="429"} 2',
  ]);
});

test('the longest silence of a path is shown, and a stopped watch is not shown', async () => {
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
