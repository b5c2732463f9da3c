// Outlives the process that started a control plane, and ends the control plane when that process dies.
//
// Reads from stdin what to watch. The end of stdin without a release means that the other side died, even by SIGKILL.
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { endProcess } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

export type WatchdogMessage =
  | { readonly kind: 'watch'; readonly process: ProcessIdentity }
  /** Nothing is ended, not even when the other side dies. */
  | { readonly kind: 'release' };

const [, , folder] = process.argv;

const watched: ProcessIdentity[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as WatchdogMessage;
  if (message.kind === 'release') process.exit(0);
  watched.push(message.process);
}
// The data is no longer read, so a kill is enough.
await Promise.all(watched.map((identity) => endProcess(identity, 0)));
if (folder !== undefined) await rm(folder, { recursive: true, force: true });
