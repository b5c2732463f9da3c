// Secrets that the bench sends: pairs of TLS with RSA keys as ingress controllers use them, and one of the largest size.
import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { issueAuthority, issueServing } from '../../../src/certs/issue/issue.ts';
import { servingNames } from '../../../src/certs/issue/names.ts';
import { reviewJson, secretObject } from '../../support/reviews.ts';

const dayMs = 24 * 60 * 60 * 1000;
const rsaKeys = () => promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
/** The largest Secret: https://kubernetes.io/docs/concepts/configuration/secret/#restriction-data-size */
const maxSecretBytes = 1024 * 1024;

/** Returns reviews of different Secrets, about 4 kB each: a key, and a certificate with that of its authority. */
export async function tlsSecretReviews(count: number): Promise<readonly string[]> {
  const now = new Date();
  const authority = await issueAuthority(30 * dayMs, now);
  const names = servingNames('reeve-system', []);
  return await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const { certPem, keyPem } = await issueServing(authority, names, 29 * dayMs, now, rsaKeys);
      const data = {
        'tls.crt': Buffer.from(certPem + authority.certPem).toString('base64'),
        'tls.key': Buffer.from(keyPem).toString('base64'),
      };
      return reviewJson(secretObject({ type: 'kubernetes.io/tls', data }, { name: `tls-${index}` }));
    }),
  );
}

export function largeSecret(): string {
  const data = { blob: randomBytes(maxSecretBytes).toString('base64') };
  return reviewJson(secretObject({ data }));
}
