import perfHooks from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';
import { MetricsRegistry } from '../../../src/observe/registry.ts';

test('the metrics wake an idle process ten times a second at most', () => {
  const monitor = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
  const registry = new MetricsRegistry();
  expect(registry.contentType).toContain('text/plain');
  expect(monitor.mock.calls.map(([options]) => options?.resolution)).toEqual([100]);
});
