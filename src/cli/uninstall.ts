// The command `reeve uninstall`: prints its plan, asks, removes Reeve from the cluster, and prints what is left.
import type { ApiServerChoice } from '../kube/auth/find-api-server.ts';
import type { ClusterConnection } from '../app/cluster-connection.ts';
import { removeWebhooks, Uninstall, type UninstallResult } from '../uninstall/uninstall.ts';
import { counted } from '../base/text.ts';
import { countOf, type ContentsPlan, type ProviderPlan } from '../uninstall/contents.ts';
import type { UninstallFlags } from './flags/uninstall-settings.ts';
import { isAgreed, notConfirmed, type AgreementIo } from './commands/agreement.ts';
import { onCluster } from './input/on-cluster.ts';

export interface UninstallIo extends AgreementIo {
  readonly stdout: (text: string) => void;
}

/** Returns the exit code. */
export async function runUninstall(
  settings: UninstallFlags,
  environment: ApiServerChoice['environment'],
  io: UninstallIo,
): Promise<number> {
  return await onCluster(settings, environment, io.stderr, (connection) =>
    uninstalled(settings, connection, io),
  );
}

async function uninstalled(
  { installNamespace: namespace, ...flags }: UninstallFlags,
  connection: ClusterConnection,
  io: UninstallIo,
): Promise<number> {
  const settings = { ...flags, namespace };
  if (settings.onlyWebhooks) return await withoutWebhooks(settings, connection, io);
  const uninstall = new Uninstall(settings, connection, (line) => io.stdout(`${line}\n`));
  io.stdout(planText(await uninstall.plan(), { ...settings, description: connection.description }));
  if (!(await isAgreed(io, { yes: settings.yes, word: 'uninstall' }))) return notConfirmed;
  const outcome = await uninstall.run();
  io.stdout(outcomeText(outcome));
  return outcome.problems.length === 0 && outcome.left.length === 0 ? 0 : 1;
}

async function withoutWebhooks(
  { yes, timeout }: Pick<UninstallFlags, 'yes' | 'timeout'>,
  connection: ClusterConnection,
  io: UninstallIo,
): Promise<number> {
  io.stdout(`The webhook configurations of Reeve will be deleted from ${connection.description}.\n`);
  if (!(await isAgreed(io, { yes, word: 'uninstall' }))) return notConfirmed;
  const problems = await removeWebhooks(connection, timeout, (line) => io.stdout(`${line}\n`));
  for (const problem of problems) io.stdout(`not done: ${problem}\n`);
  return problems.length === 0 ? 0 : 1;
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

function providerText({ provider, fate, reason, objects }: ProviderPlan): string {
  const namespaces = counted(new Set(objects.map(({ namespace }) => namespace)).size, 'namespace');
  const what = `${counted(objects.length, 'object')} in ${namespaces}`;
  return fate === 'delete'
    ? `  ${provider}: ${what} will be deleted`
    : `  ${provider}: ${what} will stay (${reason})`;
}

export function outcomeText({ problems, left, notes }: UninstallResult): string {
  const isClean = problems.length === 0 && left.length === 0;
  return [
    ...problems.map((problem) => `not done: ${problem}`),
    ...left.map((each) => `left: ${each}`),
    ...notes.map((note) => `note: ${note}`),
    isClean
      ? 'Reeve is removed. Nothing is left that could block a request.'
      : 'Reeve is not completely removed: see above, and run this command again.',
    '',
  ].join('\n');
}
