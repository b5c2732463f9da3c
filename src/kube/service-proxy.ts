// Asks through the proxy of the API server whether the webhook answers behind its Service.
import { KubeError } from '../base/kube-error.ts';
import type { KubeClient } from './http/client.ts';
import { resourcePath } from './http/https-client.ts';

interface ServiceAddress {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/**
 * Returns a function that asks whether the webhook answers. The API server connects to a ready Pod of the Service, as it
 * does for a review. The right to `get` this one name allows no more than that: the webhook refuses each GET with 405.
 * https://kubernetes.io/docs/tasks/access-application-cluster/access-cluster-services/#manually-constructing-apiserver-proxy-urls
 */
export function serviceTrial(
  client: Pick<KubeClient, 'request'>,
  { namespace, name, port }: ServiceAddress,
  signal: AbortSignal,
): (timeoutMs: number) => Promise<boolean> {
  const proxy = { apiVersion: 'v1', plural: 'services', namespace, name: `https:${name}:${port}` };
  const path = `${resourcePath({ ...proxy, subresource: 'proxy' })}/validate`;
  return async (timeoutMs) => {
    try {
      await client.request({ method: 'GET', path, timeoutMs, signal });
      return false;
    } catch (error) {
      if (error instanceof KubeError) return error.code === 405;
      if (signal.aborted) return false;
      throw error;
    }
  };
}
