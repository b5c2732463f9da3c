// Credentials as a service account, for somebody who may ask for its tokens.
// https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
import { systemClock, type Clock } from '../../base/clock.ts';
import { ownMember } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeClient } from '../http/client.ts';
import { resourcePath } from '../http/resource-paths.ts';
import { CredentialError } from './credentials.ts';
import type { ApiServer, Credentials, CredentialSource, TlsCredentials } from './credentials.ts';

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

const lifetimeSeconds = 3600;
/** The API server may give a shorter one than was asked for, and says so; a fifth is left for what is under way. */
const usedShare = 0.8;

/** `asking`: of whoever may create `serviceaccounts/token`, at the same API server. */
export function requestedTokenSource(
  through: ApiServer,
  asking: KubeClient,
  account: ServiceAccountName,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): CredentialSource {
  let last: { readonly token: string; readonly until: number } | undefined;
  const { namespace, name } = account;
  const path = resourcePath({
    apiVersion: 'v1',
    plural: 'serviceaccounts',
    namespace,
    name,
    subresource: 'token',
  });
  return {
    server: through.server,
    description: `${through.description}, as ${namespace}/${name}`,
    read: async ({ refused }) => {
      if (last === undefined || refused || clock.monotonic() >= last.until) {
        last = await requested(asking, path, clock.monotonic());
      }
      return {
        headers: { Authorization: `Bearer ${last.token}` },
        tls: serverPart(await through.authorize()),
      };
    },
  };
}

/** How to know the server, without the certificate of who asks. */
function serverPart({ tls: { ca, servername, rejectUnauthorized } }: Credentials): TlsCredentials {
  return {
    rejectUnauthorized,
    ...(ca === undefined ? {} : { ca }),
    ...(servername === undefined ? {} : { servername }),
  };
}

/** Rejects with a CredentialError. */
async function requested(
  asking: KubeClient,
  path: string,
  now: number,
): Promise<{ readonly token: string; readonly until: number }> {
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: lifetimeSeconds },
  };
  try {
    const answer = await asking.request({ method: 'POST', path, body });
    const token = ownMember(answer['status'], 'token');
    const given = ownMember(answer['spec'], 'expirationSeconds');
    const seconds = typeof given === 'number' ? given : lifetimeSeconds;
    if (typeof token === 'string') return { token, until: now + seconds * usedShare * 1000 };
    throw new CredentialError('the API server gave no token for the service account');
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new CredentialError(
      `no token for the service account (${error.code} ${error.reason}): it must be there, and you must have the right to create serviceaccounts/token`,
    );
  }
}
