// Reads from /proc what a process uses: https://docs.kernel.org/filesystems/proc.html#process-specific-subdirectories
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const kibibytesPerMiB = 1024;
const calmReads = 8;

/** Resident memory in MiB. The kernel counts every page for this file, where VmRSS of `status` may be out of date. */
export function residentMiB(pid: number): number {
  return valueOf(pid, 'smaps_rollup', 'Rss');
}

/** The largest resident memory since the last `forgetPeak`, in MiB. */
export function peakMiB(pid: number): number {
  return valueOf(pid, 'status', 'VmHWM');
}

/** https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Resident memory in MiB, once it has not changed for two seconds. */
export async function settledMiB(pid: number): Promise<number> {
  let last = residentMiB(pid);
  for (let same = 0; same < calmReads;) {
    await sleep(250);
    const now = residentMiB(pid);
    same = Math.abs(now - last) < 0.3 ? same + 1 : 0;
    last = now;
  }
  return last;
}

/** The processor time of all threads since the start, in ms. https://docs.kernel.org/scheduler/sched-stats.html */
export function processorMs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`).map((task) =>
    readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'),
  );
  return tasks.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0);
}

function valueOf(pid: number, file: string, name: string): number {
  const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / kibibytesPerMiB;
}
