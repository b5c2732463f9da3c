// The bench reads what a process uses from /proc, in the units that it names.
import { describe, expect, test } from 'vitest';
import { peakMiB, processorMs, residentMiB } from '../../bench/process-use.ts';

const { skipIf } = describe;

skipIf(process.platform !== 'linux')('this process', () => {
  test('this process has the resident memory that Node reports', () => {
    const reported = process.memoryUsage.rss() / 1024 ** 2;
    expect(residentMiB(process.pid) / reported).toBeCloseTo(1, 0);
    expect(peakMiB(process.pid)).toBeGreaterThan(reported * 0.8);
  });

  test('this process has about the processor time that Node reports', () => {
    const { user, system } = process.cpuUsage();
    expect(processorMs(process.pid) / ((user + system) / 1000)).toBeCloseTo(1, 0);
  });
});
