// Finds the API server and its credentials: from kubeconfigs or from the service account of the Pod.
import { access, readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { errorCode } from '../../base/kube-error.ts';
import {
  connectionTo,
  CredentialError,
  type ApiServer,
  type CredentialSource,
} from '../http/http-exchange.ts';
import { kubeconfigSource } from './kubeconfig.ts';

interface PodEnvironment {
  readonly KUBERNETES_SERVICE_HOST?: string | undefined;
  readonly KUBERNETES_SERVICE_PORT?: string | undefined;
}

export interface ApiServerChoice {
  /** Takes precedence over the environment. */
  readonly kubeconfig?: string | undefined;
  /** The context of the kubeconfig. Undefined: the current one. */
  readonly context?: string | undefined;
  readonly environment: PodEnvironment & {
    /** A path, or several paths separated as in PATH. */
    readonly KUBECONFIG?: string | undefined;
    readonly HOME?: string | undefined;
  };
  readonly serviceAccountFolder?: string;
  readonly clock?: Pick<Clock, 'monotonic'>;
}

/** Rejects with a CredentialError. */
export async function findApiServer(choice: ApiServerChoice): Promise<ApiServer> {
  return await connectionTo(await sourceOf(choice), choice.clock);
}

/** Uses the order of client-go: https://pkg.go.dev/k8s.io/client-go/tools/clientcmd#BuildConfigFromFlags */
async function sourceOf({
  kubeconfig,
  context,
  environment,
  serviceAccountFolder,
}: ApiServerChoice): Promise<CredentialSource> {
  if (kubeconfig !== undefined) return await kubeconfigSource([kubeconfig], context);
  const named = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) return await kubeconfigSource(named, context);
  // A context belongs to a kubeconfig, so a given context excludes the account of the Pod.
  const inPod =
    context === undefined ? await serviceAccountSource(environment, serviceAccountFolder) : undefined;
  if (inPod !== undefined) return inPod;
  const inHome = environment.HOME === undefined ? undefined : join(environment.HOME, '.kube', 'config');
  if (inHome !== undefined && (await exists(inHome))) return await kubeconfigSource([inHome], context);
  throw new CredentialError(
    'no API server found: --kubeconfig and KUBECONFIG are not set, this is not a Pod with a service account, ' +
      'and ~/.kube/config does not exist',
  );
}

const defaultAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Returns undefined outside of a Pod, and in a Pod that mounts no token.
 * https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api
 */
async function serviceAccountSource(
  { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' }: PodEnvironment,
  folder = defaultAccountFolder,
): Promise<CredentialSource | undefined> {
  const tokenFile = join(folder, 'token');
  if (host === undefined || host === '' || !(await exists(tokenFile))) return undefined;
  const server = URL.parse(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`);
  if (server === null) {
    throw new CredentialError('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not a valid address');
  }
  return {
    server,
    description: 'the service account of this Pod',
    isOfPod: true,
    // Reading them each time is cheap, and the kubelet replaces them before they expire.
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
