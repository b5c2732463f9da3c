// Starts the sandbox with a folder of its own: its authority, its certificate and a kubeconfig, for this process's user alone.
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../base/kube-error.ts';
import { writeCertificateFiles } from '../certs/files/files.ts';
import { issueCertificates } from '../certs/issue/issue.ts';
import { connectionTo, type ApiServer } from '../kube/http/http-exchange.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../sandbox/sandbox.ts';
import { StartError } from '../base/start-error.ts';
import type { User } from '../sandbox/access/users.ts';

export interface LocalSandbox {
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

export interface LocalSandboxSettings {
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
  const sandbox = await started({ ...told, tls, port: apiPort });
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
