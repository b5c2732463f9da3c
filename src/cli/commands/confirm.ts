// The command `reeve confirm`: lists the deletions that wait for a confirmation, asks, and sets the annotation.
import { confirmDeletionsAnnotation, cliFieldManager } from '../../schema/names.ts';
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { findConfirmation, storedProvider, confirmationText } from '../../inspect/actions/confirmation.ts';
import type { ClusterState } from '../../inspect/input/cluster-state.ts';
import { providerNamed } from '../../inspect/input/object-names.ts';
import type { ConfirmationOutput } from '../../inspect/output-schemas/confirmation.ts';
import { providerRef, type ProviderId } from '../../policy/terms/provider-id.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { switchSetting, withoutVariable, type Settings, type Values } from '../flags/settings.ts';
import { askingSettings, objectNamespace } from '../flags/state-settings.ts';
import { onCluster } from '../input/on-cluster.ts';
import { jsonText, yamlText } from '../output/data-text.ts';
import { isAgreed, notConfirmed } from './agreement.ts';
import { readProviderState } from './provider-state.ts';
import { refusalText } from './refusal-text.ts';

const outputs = {
  text: (output: ConfirmationOutput, { all }: { readonly all: boolean }) => confirmationText(output, all),
  json: jsonText,
  yaml: yamlText,
};

const flags = {
  namespace: objectNamespace('The namespace of a SecurityIntentBinding.'),
  forDeletion: withoutVariable(
    switchSetting(
      'Confirm what the deletion of the policy, share or binding would delete. Run this before kubectl delete.',
    ),
  ),
  all: withoutVariable(switchSetting('List all objects, not only twenty.')),
  ...askingSettings(outputs),
} satisfies Settings;

type ConfirmFlags = Values<typeof flags>;

export const command = commandOf({
  flags,
  outputs,
  run: runConfirm,
  positionals: {
    placeholder: 'KIND/NAME',
    help: 'The policy, share or binding: policy/team, share/regcred, binding/no-egress.',
    min: 1,
    max: 2,
  },
  details: `Reeve holds deletions back when one change would delete more objects than maxDeletions. This command lists the objects,
and sets the annotation reeve.dev/confirm-deletions to their number. Objects that join later are held again.

A change of the spec that the API server refuses cannot be confirmed here: set the annotation in the same write.`,
  check: ({ namespace }, words) => {
    const read = providerNamed(words.join('/'), namespace);
    return read.ok ? [] : [read.problem];
  },
  examples: [
    ['reeve confirm policy/team-namespaces', 'what the policy holds back, and a question'],
    ['reeve confirm share/regcred --for-deletion', 'before kubectl delete sshare regcred'],
  ],
  exitCodes: [
    [0, 'The number was confirmed, or nothing needs a confirmation.'],
    [1, 'There is no such object, or the cluster refused the annotation.'],
    [2, 'Wrong flags, or not confirmed.'],
    [3, 'The number is not known: a kind could not be read, or the cluster did not answer.'],
  ],
});

/** Returns the exit code. */
async function runConfirm(
  { settings, positionals, environment }: Call<ConfirmFlags>,
  io: CommandIo<ConfirmationOutput>,
): Promise<number> {
  const read = providerNamed(positionals.join('/'), settings.namespace);
  if (!read.ok) throw new Error('the command line has checked the name');
  const { id } = read;
  return await onCluster(settings, environment, io.stderr, async (connection) => {
    const base = await readProviderState(connection, id, { ...settings, others: false }, io);
    if (typeof base === 'number') return base;
    if (isPartial(base)) {
      io.stderr(`so how many objects of ${id} would be deleted is not known\n`);
      return exitCodes.unknown;
    }
    const output = await findConfirmation({
      base,
      id,
      isForDeletion: settings.forDeletion,
      now: io.clock.now(),
    });
    return output === undefined
      ? exitCodes.no
      : await confirm(output, { id, base, settings }, connection, io);
  });
}

/** Deployments only give the flags of the install, and sources only decide whether copies are up to date. */
function isPartial({ unread }: ClusterState): boolean {
  return unread.some(({ kind }) => kind !== 'Deployment' && !kind.startsWith('Secret '));
}

interface Question {
  readonly id: ProviderId;
  readonly base: ClusterState;
  readonly settings: ConfirmFlags;
}

async function confirm(
  output: ConfirmationOutput,
  { id, base, settings }: Question,
  { writer }: ClusterConnection,
  io: CommandIo<ConfirmationOutput>,
): Promise<number> {
  const isText = settings.output === 'text';
  const printData = (result: ConfirmationOutput): void => (isText ? undefined : io.print(result));
  const { annotation = '', outcome } = output;
  if (isText) io.print(output);
  if (outcome !== 'not confirmed') {
    printData(output);
    return exitCodes.done;
  }
  const ask = isText ? io.ask : undefined;
  const word = String(Number(annotation));
  if (!(await isAgreed({ ...io, ask }, { yes: settings.yes, word, purpose: 'to allow it' }))) {
    printData(output);
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
  printData({ ...output, outcome: 'confirmed' });
  return exitCodes.done;
}
