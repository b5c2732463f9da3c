// Which API server the program works with: what it was told, what its environment says, or what it finds.
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { connectionTo, CredentialError } from './credentials.ts';
import type { ApiServer, CredentialSource } from './credentials.ts';
import { kubeconfigSource } from './kubeconfig.ts';
import { serviceAccountSource } from './service-account.ts';
import type { PodEnvironment } from './service-account.ts';

export interface ApiServerChoice {
  /** Goes before everything else. */
  readonly kubeconfig?: string | undefined;
  readonly environment: PodEnvironment & {
    /** One path, or several as in PATH. */
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

/** client-go's order: https://pkg.go.dev/k8s.io/client-go/tools/clientcmd#BuildConfigFromFlags */
async function sourceOf({
  kubeconfig,
  environment,
  serviceAccountFolder,
}: ApiServerChoice): Promise<CredentialSource> {
  if (kubeconfig !== undefined) return await kubeconfigSource([kubeconfig]);
  const named = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) return await kubeconfigSource(named);
  const inPod = await serviceAccountSource(environment, serviceAccountFolder);
  if (inPod !== undefined) return inPod;
  const usual = environment.HOME === undefined ? undefined : join(environment.HOME, '.kube', 'config');
  if (usual !== undefined && (await isThere(usual))) return await kubeconfigSource([usual]);
  throw new CredentialError(
    'no way to an API server: --kubeconfig and KUBECONFIG are not set, this is no Pod with a service account, ' +
      'and there is no ~/.kube/config',
  );
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
