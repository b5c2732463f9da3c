// The way to the API server that Kubernetes gives every Pod: the address from the environment, the rest from files.
//
// https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api
import { access, readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { errorCode } from '../../base/error-code.ts';
import { CredentialError } from './credentials.ts';
import type { CredentialSource } from './credentials.ts';

export interface PodEnvironment {
  readonly KUBERNETES_SERVICE_HOST?: string | undefined;
  readonly KUBERNETES_SERVICE_PORT?: string | undefined;
}

export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Undefined outside of a Pod, and in one that mounts no token. */
export async function serviceAccountSource(
  { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' }: PodEnvironment,
  folder = serviceAccountFolder,
): Promise<CredentialSource | undefined> {
  const tokenFile = join(folder, 'token');
  if (host === undefined || host === '' || !(await exists(tokenFile))) return undefined;
  const server = URL.parse(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`);
  if (server === null) {
    throw new CredentialError('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not an address');
  }
  return {
    server,
    description: 'the service account of this Pod',
    isOfPod: true,
    // The files are small, and the kubelet replaces them before they expire.
    read: async () => {
      const [token, ca] = await Promise.all([readText(tokenFile), readText(join(folder, 'ca.crt'))]);
      return {
        headers: { Authorization: `Bearer ${token.trim()}` },
        tls: { ca, rejectUnauthorized: true },
      };
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CredentialError(`${path} cannot be read (${errorCode(error) ?? 'unknown'})`);
  }
}
