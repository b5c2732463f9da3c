// The command `reeve uninstall`: says what will become of what, asks, takes Reeve off the cluster, and says what is left.
import { KubeError } from '../base/kube-error.ts';
import { CredentialError } from '../kube/auth/credentials.ts';
import { findApiServer, type ApiServerChoice } from '../kube/auth/find-api-server.ts';
import { connect, type ClusterConnection } from '../app/cluster-connection.ts';
import { StartError } from '../app/start-error.ts';
import { Uninstall } from '../uninstall/uninstall.ts';
import type { UninstallSettings } from './uninstall-settings.ts';
import { outcomeText, planText } from './uninstall-text.ts';

export interface UninstallIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** The line that somebody types; undefined where nobody can be asked. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
}

const concurrency = 16;

/** Answers with the exit code: 0 nothing is left, 1 something is, or it could not be begun, 2 nobody has agreed. */
export async function runUninstall(
  settings: UninstallSettings,
  environment: ApiServerChoice['environment'],
  io: UninstallIo,
): Promise<number> {
  try {
    const { kubeconfig } = settings;
    const connection = await connect(() => findApiServer({ kubeconfig, environment }), concurrency);
    try {
      return await uninstalled(settings, connection, io);
    } finally {
      connection.client.close();
    }
  } catch (error) {
    const isForOperator =
      error instanceof StartError || error instanceof CredentialError || error instanceof KubeError;
    if (!isForOperator) throw error;
    io.stderr(`${error.message}\n`);
    return 1;
  }
}

async function uninstalled(
  settings: UninstallSettings,
  connection: ClusterConnection,
  io: UninstallIo,
): Promise<number> {
  const uninstall = new Uninstall(settings, connection, (line) => io.stdout(`${line}\n`));
  io.stdout(planText(await uninstall.plan(), { ...settings, description: connection.description }));
  if (!settings.yes && !(await isAgreed(io))) {
    io.stderr('nothing was changed: nobody has agreed; --yes does\n');
    return 2;
  }
  const outcome = await uninstall.run();
  io.stdout(outcomeText(outcome));
  return outcome.problems.length === 0 && outcome.left.length === 0 ? 0 : 1;
}

async function isAgreed({ ask }: UninstallIo): Promise<boolean> {
  return ask !== undefined && (await ask('Type "uninstall" to go on: ')).trim() === 'uninstall';
}
