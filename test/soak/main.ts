// `npm run soak -- --minutes N [--seed S] [--rate R] [--json FILE]`: runs Reeve under load and faults, and judges the result.
import { randomInt } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { faultsOf, reportText } from './report.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    rate: { type: 'string', default: '30' },
    json: { type: 'string' },
  },
});

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());

const say = (text: string): void =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
const report = await soak({
  minutes: Number(values.minutes),
  seed: Number(values.seed),
  rate: Number(values.rate),
  signal: ending.signal,
  say,
});
process.stdout.write(`${reportText(report)}\n`);
if (values.json !== undefined) await writeFile(values.json, JSON.stringify(report, undefined, 2));
const isWell = faultsOf(report).length === 0;
if (isWell) await rm(report.logs, { recursive: true, force: true });
process.exitCode = isWell ? 0 : 1;
