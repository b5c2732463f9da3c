// The command `reeve confirm`: lists the deletions that wait for a confirmation, asks, and sets the annotation.
import { confirmDeletionsAnnotation, cliFieldManager } from '../../schema/names.ts';
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { Clock } from '../../base/clock.ts';
import { planConfirmation, storedProvider, confirmationText } from '../../inspect/actions/confirmation.ts';
import type { ClusterState } from '../../inspect/input/cluster-state.ts';
import { providerNamed } from '../../inspect/input/object-names.ts';
import type { ConfirmationOutput } from '../../inspect/output-schemas/confirmation.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import { providerRef, type ProviderId } from '../../policy/terms/provider-id.ts';
import { exitCodes } from '../exit-codes.ts';
import type { ConfirmFlags } from '../flags/confirm-settings.ts';
import { onCluster } from '../input/on-cluster.ts';
import { dataText } from '../output/data-text.ts';
import { isAgreed, notConfirmed, type AgreementIo } from './agreement.ts';
import { readProviderState, type ProviderStateIo } from './provider-state.ts';
import { refusalText } from './refusal-text.ts';

export interface ConfirmIo extends AgreementIo, ProviderStateIo {
  readonly stdout: (text: string) => void;
  readonly clock: Pick<Clock, 'now'>;
}

/** Returns the exit code. */
export async function runConfirm(
  flags: ConfirmFlags,
  words: readonly string[],
  environment: ApiServerChoice['environment'],
  io: ConfirmIo,
): Promise<number> {
  const read = providerNamed(words.join('/'), flags.namespace);
  if (!read.ok) throw new Error('the command line has checked the name');
  const { id } = read;
  return await onCluster(flags, environment, io.stderr, async (connection) => {
    const base = await readProviderState(connection, id, { ...flags, others: false }, io);
    if (typeof base === 'number') return base;
    if (isPartial(base)) {
      io.stderr(`so how many objects of ${id} would be deleted is not known\n`);
      return exitCodes.unknown;
    }
    const output = await planConfirmation({
      base,
      id,
      isForDeletion: flags.forDeletion,
      now: io.clock.now(),
    });
    return output === undefined ? exitCodes.no : await confirm(output, { id, base, flags }, connection, io);
  });
}

/** Deployments say only which flags the install has, and sources which copies are up to date. */
function isPartial({ unread }: ClusterState): boolean {
  return unread.some(({ kind }) => kind !== 'Deployment' && !kind.startsWith('Secret '));
}

interface Question {
  readonly id: ProviderId;
  readonly base: ClusterState;
  readonly flags: ConfirmFlags;
}

async function confirm(
  output: ConfirmationOutput,
  { id, base, flags }: Question,
  { writer }: ClusterConnection,
  io: ConfirmIo,
): Promise<number> {
  const { output: format } = flags;
  const isText = format === 'text';
  const print = (result: ConfirmationOutput): void =>
    isText ? undefined : io.stdout(dataText(format, result));
  const { annotation = '', outcome } = output;
  if (isText) io.stdout(confirmationText(output, flags.all));
  if (outcome !== 'not confirmed') {
    print(output);
    return exitCodes.done;
  }
  const ask = isText ? io.ask : undefined;
  const word = String(Number(annotation));
  if (!(await isAgreed({ ...io, ask }, { yes: flags.yes, word, purpose: 'to allow it' }))) {
    print(output);
    return notConfirmed;
  }
  try {
    const { resourceVersion } = storedProvider(base, id)?.metadata ?? {};
    const metadata = { resourceVersion, annotations: { [confirmDeletionsAnnotation]: annotation } };
    await writer.mergePatch(providerRef(id), { metadata }, { manager: cliFieldManager });
  } catch (error) {
    io.stderr(`${id} was not annotated: ${refusalText(error)}\n`);
    return exitCodes.no;
  }
  io.stderr(`${id} has the annotation ${confirmDeletionsAnnotation}: "${annotation}" now\n`);
  print({ ...output, outcome: 'confirmed' });
  return exitCodes.done;
}
