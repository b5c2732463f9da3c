// Says in one line why the API server refused a write of a command, for the person who runs it.
import { KubeError } from '../../base/kube-error.ts';
import { refusalSentence } from '../../reconcile/namespace/write-error.ts';

/** Throws an error of the program itself again. */
export function refusalText(error: unknown): string {
  if (!(error instanceof KubeError)) throw error;
  const { code, reason, refusal } = error;
  if (code === 409) return 'another client changed it at the same time: run the command again';
  if (refusal === undefined) return error.message;
  if (refusal.by === 'rights') return `this account may not ${refusal.name ?? 'do that'}`;
  if (refusal.by === 'escalation')
    return 'this account does not hold the right itself, so it may not hand it out';
  return refusalSentence(refusal, `${code} ${reason}`, 'the role');
}
