// The command `reeve confirm`: lists the deletions that wait for a confirmation, asks, and sets the annotation.
import { confirmDeletionsAnnotation, cliFieldManager } from '../../api/names.ts';
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { Clock } from '../../base/clock.ts';
import { planConfirmation, storedProvider } from '../../inspect/actions/confirmation.ts';
import { confirmationText } from '../../inspect/actions/confirmation-text.ts';
import type { ClusterState } from '../../inspect/input/cluster-state.ts';
import { providerNamed } from '../../inspect/input/object-names.ts';
import type { ConfirmationOutput } from '../../inspect/output-schemas/confirmation.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import { providerRef, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { ConfirmFlags } from '../flags/confirm-settings.ts';
import { onCluster } from '../input/on-cluster.ts';
import { jsonText } from '../output/json-text.ts';
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
  [name = '']: readonly string[],
  environment: ApiServerChoice['environment'],
  io: ConfirmIo,
): Promise<number> {
  const read = providerNamed(name, flags.namespace);
  if (!read.ok) throw new Error('the command line has checked the name');
  const { id } = read;
  return await onCluster(flags, environment, io.stderr, async (connection) => {
    const base = await readProviderState(connection, id, { ...flags, others: false }, io);
    if (base === undefined) return 1;
    if (isPartial(base)) {
      io.stderr(`so how many objects of ${id} would be deleted is not known\n`);
      return 1;
    }
    const output = await planConfirmation({
      base,
      id,
      isForDeletion: flags.forDeletion,
      now: io.clock.now(),
    });
    return output === undefined ? 1 : await confirm(output, { id, base, flags }, connection, io);
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
  const isJson = flags.output === 'json';
  const { annotation = '', outcome } = output;
  if (!isJson) io.stdout(confirmationText(output, flags.all));
  if (outcome !== 'not confirmed') {
    if (isJson) io.stdout(jsonText(output));
    return 0;
  }
  const ask = isJson ? undefined : io.ask;
  const word = String(Number(annotation));
  if (!(await isAgreed({ ...io, ask }, { yes: flags.yes, word, purpose: 'to allow it' }))) {
    if (isJson) io.stdout(jsonText(output));
    return notConfirmed;
  }
  try {
    const { resourceVersion } = storedProvider(base, id)?.metadata ?? {};
    const metadata = { resourceVersion, annotations: { [confirmDeletionsAnnotation]: annotation } };
    await writer.mergePatch(providerRef(id), { metadata }, { manager: cliFieldManager });
  } catch (error) {
    io.stderr(`${id} was not annotated: ${refusalText(error)}\n`);
    return 1;
  }
  io.stderr(`${id} has the annotation ${confirmDeletionsAnnotation}: "${annotation}" now\n`);
  if (isJson) io.stdout(jsonText({ ...output, outcome: 'confirmed' }));
  return 0;
}
