// Starts the sandbox with a folder of its own: its authority, its certificate and a kubeconfig, for this process's user alone.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../api/error-code.ts';
import { writeCertificateFiles } from '../certs/files.ts';
import { issueCertificates } from '../certs/issue.ts';
import { connectionTo, type ApiServer } from '../kube/credentials.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../sandbox/sandbox.ts';
import type { User } from '../sandbox/user.ts';
import { StartError } from './start-error.ts';

export interface LocalSandbox {
  readonly url: string;
  /** Holds the serving pair too, which the webhook shares. */
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
  told: Pick<SandboxOptions, 'observer' | 'faulted'>,
): Promise<LocalSandbox> {
  const lifetimes = { caLifetimeDays: lifetimeDays, leafLifetimeDays: lifetimeDays };
  const issued = await issueCertificates({ namespace, now: new Date(), ...lifetimes });
  const tls = { certPem: issued.serving.certPem, keyPem: issued.serving.keyPem, caPem: issued.ca.certPem };
  const sandbox = await started({ ...told, tls, port: apiPort });
  // Only its owner may enter what mkdtemp makes.
  const folder = await mkdtemp(join(tmpdir(), 'reeve-'));
  const close = async (): Promise<void> => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const outcome = await writeCertificateFiles(folder, issued, false);
    if (outcome.kind === 'failed') throw new StartError(outcome.problem);
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, sandbox.kubeconfig('admin', sandbox.adminToken), { mode: 0o600 });
    return localSandbox(sandbox, { folder, kubeconfig, caFile: join(folder, 'ca.crt'), close });
  } catch (error) {
    await close();
    throw error;
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

async function started(options: SandboxOptions): Promise<Sandbox> {
  try {
    return await startSandbox(options);
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    throw new StartError(`port ${options.port} of this machine is in use; give another one with --api-port`);
  }
}
