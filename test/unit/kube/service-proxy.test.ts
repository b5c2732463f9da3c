// The webhook answers behind its Service when the proxy of the API server passes on its refusal of a GET.
import { expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import { serviceTrial } from '../../../src/kube/service-proxy.ts';

test.each([
  ['the webhook refuses a GET: a replica answers', 405, true],
  ['the Service leads to no Pod', 503, false],
  ['the account may not ask', 403, false],
  ['the Service is missing', 404, false],
  ['the question hangs until its timeout', 0, false],
])('%s', async (_title, code, isReached) => {
  const client = {
    request: ({ path, timeoutMs }: { readonly path: string; readonly timeoutMs?: number }) => {
      expect(timeoutMs).toBe(700);
      expect(path).toBe(
        '/api/v1/namespaces/reeve-system/services/https%3Areeve-webhook%3A443/proxy/validate',
      );
      return Promise.reject(new KubeError({ code, reason: 'R', retryable: false }));
    },
  };
  const address = { namespace: 'reeve-system', name: 'reeve-webhook', port: 443 };
  expect(await serviceTrial(client, address, new AbortController().signal)(700)).toBe(isReached);
});
