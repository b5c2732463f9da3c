// The token of a service account is asked for once, and again only when it grows old or is refused.
import { beforeEach, describe, expect, it } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import type { KubeClient, KubeRequest } from '../../../../src/kube/http/client.ts';
import type { ApiServer, CredentialSource } from '../../../../src/kube/auth/credentials.ts';
import { requestedTokenSource } from '../../../../src/kube/auth/requested-token.ts';

const through: ApiServer = {
  server: new URL('https://api.example.com:6443'),
  description: 'the kubeconfig x',
  authorize: () =>
    Promise.resolve({
      headers: { Authorization: 'Bearer mine' },
      tls: { ca: 'CA', cert: 'my certificate', key: 'my key', rejectUnauthorized: true },
    }),
  renew: (refused) => Promise.resolve(refused),
};

let requests: KubeRequest[];
let now: number;
let answer: () => Promise<object>;

beforeEach(() => {
  requests = [];
  now = 0;
  answer = () =>
    Promise.resolve({ spec: { expirationSeconds: 600 }, status: { token: `token-${requests.length}` } });
});

function source(): CredentialSource {
  const asking: KubeClient = {
    request: async (request) => {
      requests.push(request);
      return { ...(await answer()) };
    },
    stream: () => Promise.reject(new Error('nobody streams')),
    close: () => undefined,
  };
  const clock = { monotonic: () => now };
  return requestedTokenSource(through, asking, { namespace: 'reeve-system', name: 'reeve' }, clock);
}

async function tokenOf(account: CredentialSource, refused = false): Promise<string | undefined> {
  return (await account.read({ refused })).headers['Authorization'];
}

describe('the token of a service account', () => {
  it('is asked for at its account, and used with what is known of the server alone', async () => {
    const account = source();
    expect(await account.read({ refused: false })).toEqual({
      headers: { Authorization: 'Bearer token-1' },
      tls: { ca: 'CA', rejectUnauthorized: true },
    });
    expect(account.server.port).toBe('6443');
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/reeve-system/serviceaccounts/reeve/token',
      body: { spec: { expirationSeconds: 3600 } },
    });
  });

  it('is good for most of the time that it was given', async () => {
    const account = source();
    const tokens = [await tokenOf(account)];
    now = 479_999;
    tokens.push(await tokenOf(account));
    now = 480_000;
    tokens.push(await tokenOf(account));
    expect(tokens).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });

  it.each([undefined, 'soon'])('is good for what was asked for where the answer says %s', async (seconds) => {
    answer = () =>
      Promise.resolve({
        spec: { expirationSeconds: seconds },
        status: { token: `token-${requests.length}` },
      });
    const account = source();
    await tokenOf(account);
    now = 2_879_999;
    expect(await tokenOf(account)).toBe('Bearer token-1');
    now = 2_880_000;
    expect(await tokenOf(account)).toBe('Bearer token-2');
  });

  it('is asked for again when it is refused', async () => {
    const account = source();
    await tokenOf(account);
    expect(await tokenOf(account, true)).toBe('Bearer token-2');
  });

  it.each([
    ['a right is missing', { code: 403, reason: 'Forbidden' }],
    ['the account is missing', { code: 404, reason: 'NotFound' }],
  ])('is none when %s', async (_, { code, reason }) => {
    answer = () => Promise.reject(new KubeError({ code, reason, retryable: false }));
    await expect(tokenOf(source())).rejects.toThrow(
      `no token for the service account (${code} ${reason}): it must be there, and you must have the right to create serviceaccounts/token`,
    );
  });

  it('is none when the answer has none', async () => {
    answer = () => Promise.resolve({ status: {} });
    await expect(tokenOf(source())).rejects.toThrow('gave no token');
  });
});
