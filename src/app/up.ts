// Starts `reeve up`: a sandbox, an install of Reeve on it, the first objects, and the program.
import { join } from 'node:path';
import { crdOf, kindDefinitions } from '../api/crd.ts';
import type { KubeObject } from '../base/metadata.ts';
import { createKubeClient } from '../kube/http/https-client.ts';
import type { KubeClient } from '../kube/http/client.ts';
import type { Log } from '../observe/log.ts';
import type { SandboxOptions } from '../sandbox/sandbox.ts';
import { serviceAccountIdentity, type User } from '../sandbox/access/users.ts';
import { connect } from './cluster-connection.ts';
import { loadObjects } from './load-objects.ts';
import { startLocalSandbox, type LocalSandbox, type LocalSandboxSettings } from './local-sandbox.ts';
import { systemClock } from '../base/clock.ts';
import { reconcilerAccount } from './install-roles.ts';
import { startProgram, type RunningProgram, type RunSettings } from './run.ts';
import { shippedFolder } from './shipped-files.ts';
import { StartError } from '../base/start-error.ts';
import type { ActivityObserver } from './observers.ts';

export interface UpSettings extends LocalSandboxSettings {
  /** The first objects: a YAML file, or a folder of YAML files. */
  readonly policies: string;
  /** Settings of the program, except for the address of the API. */
  readonly run: RunSettings;
}

/** Also gets what the API of the sandbox refuses. */
export interface UpObserver extends ActivityObserver, Pick<SandboxOptions, 'observer'> {}

export interface RunningUp extends Pick<LocalSandbox, 'url' | 'kubeconfig' | 'caFile'> {
  readonly webhookUrl: string;
  readonly probesUrl: string;
  readonly loaded: readonly KubeObject[];
  readonly failed: Promise<never>;
  clientFor(user: User): Promise<KubeClient>;
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

const pollMs = 10;
const maxPolls = 3000;
/** Kinds that need Pods, which a sandbox does not have. */
const needNodes = ['Service', 'Deployment', 'PodDisruptionBudget'];
const hookPath =
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?fieldSelector=metadata.name%3Dreeve';

/** Rejects with a StartError or an UnreadablePathError. */
export async function startUp(settings: UpSettings, log: Log, activity: UpObserver): Promise<RunningUp> {
  const sandbox = await startLocalSandbox(settings, {
    ...(activity.observer === undefined ? {} : { observer: activity.observer }),
    onError: (error) => log.error('sandbox', { error: error instanceof Error ? error.name : 'unknown' }),
  });
  const clients: KubeClient[] = [];
  const clientWith = async (token: string): Promise<KubeClient> => {
    const client = createKubeClient(await sandbox.serverFor(token));
    clients.push(client);
    return client;
  };
  let program: Started | undefined;
  const stop = async (graceMs: number, signal: AbortSignal): Promise<void> => {
    try {
      await program?.stop(graceMs, signal);
    } finally {
      for (const client of clients) client.close();
      await sandbox.close();
    }
  };
  try {
    const loaded = await install(settings, sandbox);
    program = await startAsInstalled(settings, sandbox, log, activity);
    await Promise.race([inForce(await clientWith(sandbox.adminToken)), program.failed]);
    return {
      ...sandbox,
      webhookUrl: program.webhookUrl,
      probesUrl: program.probesUrl,
      loaded,
      failed: program.failed,
      clientFor: async (user) => await clientWith(sandbox.tokenFor(user)),
      stop,
    };
  } catch (error) {
    await stop(0, AbortSignal.abort());
    throw error;
  }
}

/** Installs Reeve with the rights of an administrator. */
async function install({ policies, run }: UpSettings, sandbox: LocalSandbox): Promise<readonly KubeObject[]> {
  const connection = await connect(() => sandbox.serverFor(sandbox.adminToken), run.concurrency);
  try {
    // manifests/crds is generated from these, and reading those files would slow the start.
    for (const definition of kindDefinitions) {
      await connection.writer.create(crdOf(definition));
    }
    for (const part of ['install', join('all-in-one', '10-rights.yaml')]) {
      await loadObjects(shippedFolder(part), connection, needNodes);
    }
    return await loadObjects(policies, connection);
  } finally {
    connection.client.close();
  }
}

type Started = RunningProgram & { readonly webhookUrl: string };

async function startAsInstalled(
  { run }: UpSettings,
  sandbox: LocalSandbox,
  log: Log,
  activity: ActivityObserver,
): Promise<Started> {
  const token = sandbox.tokenFor(serviceAccountIdentity(run.namespace, reconcilerAccount, reconcilerAccount));
  const settings = { ...run, certsDir: sandbox.folder, servicePort: 0 };
  const program = await startProgram(settings, () => sandbox.serverFor(token), log, { activity });
  return { ...program, webhookUrl: program.webhookUrl ?? '' };
}

/** Waits until the API server calls the webhook for every write. Rejects with a StartError when it never does. */
async function inForce(client: KubeClient): Promise<void> {
  for (let poll = 0; poll < maxPolls; poll += 1) {
    const { items } = await client.request({ method: 'GET', path: hookPath });
    if (Array.isArray(items) && items.length > 0) return;
    await systemClock.sleep(pollMs);
  }
  throw new StartError('the webhook has not been registered; --log-level=warn says why');
}
