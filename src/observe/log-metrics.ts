// Counts the lines that the log has dropped.
import type { Log } from './log.ts';
import type { MetricsRegistry } from './registry.ts';

export function countDroppedLines(registry: MetricsRegistry, log: Pick<Log, 'dropped'>): void {
  registry.counted(
    'reeve_log_dropped_lines_total',
    'Log lines dropped, because their reader was too slow or a disk was full, and 1 MiB of lines waited.',
    () => log.dropped(),
  );
}
