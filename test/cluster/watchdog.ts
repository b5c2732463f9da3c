// A process of its own that outlives whoever started a control plane, and ends it when they are gone without a word.
//
// It is told on stdin what to watch. The end of stdin without a release means that the other side died, even by SIGKILL.
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
// Nobody reads the data any more, so nothing needs a gentle end.
await Promise.all(watched.map((identity) => endProcess(identity, 0)));
if (folder !== undefined) await rm(folder, { recursive: true, force: true });
