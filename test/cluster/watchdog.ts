// Outlives the process that started a control plane, and ends the control plane when that process dies.
//
// Reads from stdin which processes to watch. Stdin without a release at its end means that the other side died.
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { endProcess } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

export type WatchdogMessage =
  | { readonly kind: 'watch'; readonly process: ProcessIdentity }
  /** The watchdog ends nothing, not even when the other side dies. */
  | { readonly kind: 'release' };

const [, , folder] = process.argv;

const watched: ProcessIdentity[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as WatchdogMessage;
  if (message.kind === 'release') process.exit(0);
  watched.push(message.process);
}
// No process reads the data any more, so a kill is enough.
await Promise.all(watched.map((identity) => endProcess(identity, 0)));
if (folder !== undefined) await rm(folder, { recursive: true, force: true });
