// The command `reeve uninstall`: prints its plan, asks, removes Reeve from the cluster, and prints what is left.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { counted } from '../../base/text.ts';
import { countOf, type ContentsPlan, type ProviderPlan } from '../../uninstall/contents.ts';
import { removeWebhooks, Uninstall, type UninstallResult } from '../../uninstall/uninstall.ts';
import { commandOf, type CommandIo } from '../command.ts';
import {
  durationPlaceholder,
  file,
  installSettings,
  parsePositiveDuration,
} from '../flags/common-settings.ts';
import {
  durationSetting,
  optionalText,
  switchSetting,
  type Settings,
  type Values,
} from '../flags/settings.ts';
import { onCluster } from '../input/on-cluster.ts';
import { isAgreed, notConfirmed } from './agreement.ts';

const anHourMs = 3_600_000;

const flags = {
  kubeconfig: optionalText({
    ...file,
    help: 'The kubeconfig of an administrator. Without it, the cluster is found as kubectl finds it.',
  }),
  installNamespace: installSettings.namespace,
  sharedNamespace: {
    ...installSettings.sharedNamespace,
    help: 'A namespace with Secrets to share. May be given several times.',
  },
  keepContents: switchSetting(
    'Keep all objects that policies, shares and bindings provide. They lose the label and annotation of Reeve.',
  ),
  deleteShared: switchSetting(
    'Also delete the namespaces of --shared-namespace with all Secrets in them, if the installation created them.',
  ),
  onlyWebhooks: switchSetting(
    'Delete only the webhook configurations, so that nothing waits for a webhook while another program deletes Reeve. Needs rights to these objects alone.',
  ),
  yes: switchSetting('Do not ask for confirmation.'),
  timeout: durationSetting('2m', anHourMs, parsePositiveDuration, {
    ...durationPlaceholder,
    help: 'How long each step waits for objects that are being deleted.',
    accepted: 'a duration such as 2m, more than 0 and up to 1h',
  }),
} satisfies Settings;

type UninstallFlags = Values<typeof flags>;

const details = `The command prints which objects it will delete or keep, asks for confirmation, and then deletes in this order:
the webhook configurations, so that no request waits for an answer; the Deployments and the rights of Reeve's
accounts; the guard; the objects that policies, shares and bindings provide; these themselves; their kinds; the rest.

Provided objects are deleted, even if there are more than maxDeletions: your answer confirms the number. They stay,
without the label and annotation of Reeve, if deletionPolicy is Orphan, if their policy, share or binding is suspended or
invalid, or with --keep-contents. Temporary access (reeve grant access) ends now, unless --keep-contents is set.

Reeve does not need to run. The guard is deleted before the objects, so until the objects are deleted, any user with
rights in a namespace can change them. After an interruption, run the command again. At the end it prints what is left.`;

export const command = commandOf({
  flags,
  outputs: {},
  details,
  run: async ({ settings, environment }, io) =>
    await onCluster(settings, environment, io.stderr, (connection) => uninstalled(settings, connection, io)),
  exitCodes: [
    [0, 'Nothing of Reeve is left.'],
    [1, 'Something is left.'],
    [2, 'Wrong flags, or not confirmed.'],
    [3, 'The cluster could not be reached.'],
  ],
});

async function uninstalled(
  { installNamespace: namespace, ...rest }: UninstallFlags,
  connection: ClusterConnection,
  io: CommandIo,
): Promise<number> {
  const settings = { ...rest, namespace };
  if (settings.onlyWebhooks) return await withoutWebhooks(settings, connection, io);
  const uninstall = new Uninstall(settings, connection, (line) => io.stdout(`${line}\n`));
  io.stdout(planText(await uninstall.plan(), { ...settings, description: connection.description }));
  if (!(await isAgreed(io, { yes: settings.yes, word: 'uninstall' }))) return notConfirmed;
  const outcome = await uninstall.run();
  io.stdout(outcomeText(outcome));
  return outcome.notDone.length === 0 && outcome.left.length === 0 ? 0 : 1;
}

async function withoutWebhooks(
  { yes, timeout }: Pick<UninstallFlags, 'yes' | 'timeout'>,
  connection: ClusterConnection,
  io: CommandIo,
): Promise<number> {
  io.stdout(`The webhook configurations of Reeve will be deleted from ${connection.description}.\n`);
  if (!(await isAgreed(io, { yes, word: 'uninstall' }))) return notConfirmed;
  const notDone = await removeWebhooks(connection, timeout, (line) => io.stdout(`${line}\n`));
  for (const each of notDone) io.stdout(`not done: ${each}\n`);
  return notDone.length === 0 ? 0 : 1;
}

export interface Intent {
  /** The address of the cluster. */
  readonly description: string;
  /** The namespace of the installation. */
  readonly namespace: string;
  readonly sharedNamespace: readonly string[];
  readonly deleteShared: boolean;
  readonly keepContents: boolean;
}

export function planText(plan: ContentsPlan, intent: Intent): string {
  const { description, namespace, sharedNamespace, deleteShared, keepContents } = intent;
  const shared = sharedNamespace.join(', ');
  return [
    `Reeve will be removed from ${description}.`,
    ...plan.providers.map(providerText),
    `In all, ${counted(countOf(plan, 'deleted'), 'object')} will be deleted, and ${counted(countOf(plan, 'kept'), 'object')} will stay without the label and annotation of Reeve.`,
    ...(plan.accounts === 0 ? [] : [accountsText(plan.accounts, keepContents)]),
    ...(plan.grants === 0 ? [] : [grantsText(plan.grants, keepContents)]),
    `Namespace ${namespace} will be deleted, with everything in it, if the installation created it.`,
    ...(shared === ''
      ? []
      : [deleteShared ? `ALL SECRETS in ${shared} will be deleted.` : `The Secrets in ${shared} will stay.`]),
    '',
  ].join('\n');
}

function accountsText(count: number, keepContents: boolean): string {
  const accounts = `${count} ${count === 1 ? 'ServiceAccount' : 'ServiceAccounts'}`;
  return keepContents
    ? `The fields that policies added to ${accounts} will stay.`
    : `The fields that policies added to ${accounts} will be taken back, unless their policy leaves its objects behind.`;
}

function grantsText(count: number, keepContents: boolean): string {
  const bindings = `${count} ${count === 1 ? 'RoleBinding' : 'RoleBindings'} of temporary access`;
  return keepContents
    ? `${bindings} will stay, and nothing will end ${count === 1 ? 'it' : 'them'}.`
    : `${bindings} will be deleted now, because nothing would end ${count === 1 ? 'it' : 'them'} later.`;
}

function providerText({ provider, fate, reason, objects }: ProviderPlan): string {
  const namespaces = counted(new Set(objects.map(({ namespace }) => namespace)).size, 'namespace');
  const what = `${counted(objects.length, 'object')} in ${namespaces}`;
  return fate === 'delete'
    ? `  ${provider}: ${what} will be deleted`
    : `  ${provider}: ${what} will stay (${reason})`;
}

export function outcomeText({ notDone, left, notes }: UninstallResult): string {
  const isClean = notDone.length === 0 && left.length === 0;
  return [
    ...notDone.map((each) => `not done: ${each}`),
    ...left.map((each) => `left: ${each}`),
    ...notes.map((note) => `note: ${note}`),
    isClean
      ? 'Reeve is removed. Nothing is left that could block a request.'
      : 'Reeve is not completely removed: see above, and run this command again.',
    '',
  ].join('\n');
}
