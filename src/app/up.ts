// Starts `reeve up`: a sandbox, an install of Reeve on it, the first objects, and the program.
import { join } from 'node:path';
import { crdOf, kindDefinitions } from '../api/kinds.ts';
import type { KubeObject } from '../base/metadata.ts';
import { createKubeClient } from '../kube/http/https-client.ts';
import { reconcilerAccount } from '../schema/names.ts';
import type { KubeClient } from '../kube/http/client.ts';
import type { Log } from '../observe/log.ts';
import { type SandboxOptions, startSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import { serviceAccountIdentity, type User } from '../sandbox/access/users.ts';
import { connect, type ClusterConnection } from './cluster-connection.ts';
import { systemClock } from '../base/clock.ts';
import { startProgram, type RunningProgram, type RunSettings } from './run.ts';
import { shippedFolder } from './shipped-files.ts';
import { StartError } from '../base/start-error.ts';
import type { ActivityObserver } from '../observe/activity.ts';
import { isJsonObject } from '../base/json.ts';
import { KubeError, errorCode } from '../base/kube-error.ts';
import { renderFileProblem, readYamlFiles, readObjects, type LocatedObject } from '../state/yaml-files.ts';
import { isForTools, ownProblems } from '../state/definitions.ts';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { writeCertificateFiles } from '../certs/files/files.ts';
import { issueCertificates } from '../certs/issue/issue.ts';
import { connectionTo, type ApiServer } from '../kube/http/http-exchange.ts';

interface UpSettings extends LocalSandboxSettings {
  /** The first objects: a YAML file, or a folder of YAML files. */
  readonly policies: string;
  /** Settings of the program, except for the address of the API. */
  readonly run: RunSettings;
}

/** Also receives refusals by the API of the sandbox. */
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

// Creates the objects of files on a cluster, in the order of the files.

/** Returns the existing objects, without kinds to leave out. Rejects with a StartError that lists all problems of the files. */
export async function loadObjects(
  path: string,
  { writer }: Pick<ClusterConnection, 'writer'>,
  leftOut: readonly string[] = [],
): Promise<readonly KubeObject[]> {
  const { files, problems: unreadable } = await readYamlFiles(path);
  const read = files.map(readObjects);
  const all = read.flatMap(({ objects }) => objects);
  const located = all.filter(({ value }) => !isForTools(value));
  const problems = [...unreadable, ...read.flatMap((file) => file.problems), ...located.flatMap(ownProblems)];
  if (problems.length > 0) throw new StartError(problems.map(renderFileProblem).join('\n'));
  const created: KubeObject[] = [];
  for (const each of located) {
    const object = objectOf(each);
    if (leftOut.includes(object.kind ?? '')) continue;
    created.push(await creation(each, writer.create(object)));
  }
  return created;
}

function objectOf({ value, file, line }: LocatedObject): KubeObject {
  if (isJsonObject(value) && isJsonObject(value['metadata'])) {
    return { ...value, metadata: value['metadata'] };
  }
  throw new StartError(`${file}:${line}: this is no object of Kubernetes`);
}

async function creation({ file, line }: LocatedObject, creating: Promise<KubeObject>): Promise<KubeObject> {
  try {
    return await creating;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new StartError(`${file}:${line}: ${error.message}`);
  }
}

// Starts the sandbox with a folder of its own: its authority, its certificate and a kubeconfig, for this process's user alone.

interface LocalSandbox {
  readonly url: string;
  /** Contains the serving pair, which the webhook uses too. */
  readonly folder: string;
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly adminToken: string;
  tokenFor(user: User): string;
  serverFor(token: string): Promise<ApiServer>;
  close(): Promise<void>;
}

interface LocalSandboxSettings {
  readonly namespace: string;
  readonly apiPort: number;
}

const lifetimeDays = 30;

/** Rejects with a StartError. */
export async function startLocalSandbox(
  { namespace, apiPort }: LocalSandboxSettings,
  told: Pick<SandboxOptions, 'observer' | 'onError'>,
): Promise<LocalSandbox> {
  const lifetimes = { caLifetimeDays: lifetimeDays, leafLifetimeDays: lifetimeDays };
  const issued = await issueCertificates({ namespace, now: new Date(), ...lifetimes });
  const tls = { certPem: issued.serving.certPem, keyPem: issued.serving.keyPem, caPem: issued.ca.certPem };
  const sandbox = await started({ ...told, tls, port: apiPort, customKinds: kindDefinitions });
  let folder: TemporaryFolder | undefined;
  const close = async (): Promise<void> => {
    folder?.remove();
    await sandbox.close();
  };
  try {
    folder = await temporaryFolder();
    const { path } = folder;
    const outcome = await writeCertificateFiles(path, issued, false);
    if (outcome.kind === 'failed') throw new StartError(outcome.problem);
    const kubeconfig = join(path, 'kubeconfig');
    await writeFile(kubeconfig, sandbox.kubeconfig('admin', sandbox.adminToken), { mode: 0o600 });
    return localSandbox(sandbox, { folder: path, kubeconfig, caFile: join(path, 'ca.crt'), close });
  } catch (error) {
    await close();
    throw error;
  }
}

interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** The folder contains keys, so it is deleted at every end of the process except a kill. */
async function temporaryFolder(): Promise<TemporaryFolder> {
  const place = tmpdir();
  try {
    // mkdtemp creates a folder that only this user may enter.
    const path = await mkdtemp(join(place, 'reeve-'));
    const remove = (): void => {
      process.off('exit', remove);
      rmSync(path, { recursive: true, force: true });
    };
    process.on('exit', remove);
    return { path, remove };
  } catch (error) {
    throw new StartError(`cannot make a folder in ${place} (${errorCode(error) ?? 'unknown'})`);
  }
}

function localSandbox(
  sandbox: Sandbox,
  places: Pick<LocalSandbox, 'folder' | 'kubeconfig' | 'caFile' | 'close'>,
): LocalSandbox {
  const { url, caPem, adminToken } = sandbox;
  return {
    url,
    adminToken,
    tokenFor: (user) => sandbox.tokenFor(user),
    ...places,
    serverFor: async (token) => {
      const credentials = {
        headers: { Authorization: `Bearer ${token}` },
        tls: { ca: caPem, rejectUnauthorized: true },
      };
      const read = async () => await Promise.resolve(credentials);
      return await connectionTo({ server: new URL(url), description: 'the sandbox', read });
    },
  };
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'is in use'],
  ['EACCES', 'is not for this user'],
]);

async function started(options: SandboxOptions): Promise<Sandbox> {
  try {
    return await startSandbox(options);
  } catch (error) {
    const reason = reasons.get(errorCode(error) ?? '');
    if (reason === undefined) throw error;
    throw new StartError(`port ${options.port} of this machine ${reason}; give another one with --api-port`);
  }
}
