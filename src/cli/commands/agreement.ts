// Asks a person to confirm a change. Without a terminal there is no answer, so nothing is changed.
import { exitCodes } from '../exit-codes.ts';

export interface AgreementIo {
  readonly stderr: (text: string) => void;
  /** Returns the line that the user types. Undefined without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
}

interface Agreement {
  /** True to skip the question. */
  readonly yes: boolean;
  /** The word that the user must type. */
  readonly word: string;
  /** Says why the user types the word. Default: `to go on`. */
  readonly purpose?: string;
}

/** The exit code of a command that was not confirmed. */
export const notConfirmed = exitCodes.wrongArguments;

export async function isAgreed(
  { ask, stderr }: AgreementIo,
  { yes, word, purpose = 'to go on' }: Agreement,
): Promise<boolean> {
  if (yes || (ask !== undefined && (await ask(`Type "${word}" ${purpose}: `)).trim() === word)) return true;
  stderr('aborted, nothing was changed (--yes skips the question)\n');
  return false;
}
