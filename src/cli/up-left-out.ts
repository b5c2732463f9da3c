// Replaces `up.ts` in the image, whose build leaves out the sandbox, so that no fake API can be started from it.
import { exitCodes } from './exit-codes.ts';

const reason =
  'reeve up is not part of this image; run it from the npm package or from a clone of the repository';

interface ErrorOutput {
  readonly stderr: (text: string) => void;
}

/** Has the name and the place of the command that it replaces. Returns the exit code. */
export function runUp(_settings: unknown, io: ErrorOutput): number {
  io.stderr(`${reason}\n`);
  return exitCodes.unknown;
}
