// Reads the Secret of the shared authority as an administrator can, and damages it.
import { X509Certificate } from 'node:crypto';
import { parseState, type AuthorityState } from '../../../src/certs/authority/authority-state.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import type { Reeve } from '../../support/reeve.ts';
import { openTls } from '../../support/tls-client.ts';

const collection = '/api/v1/namespaces/reeve-system/secrets';
const path = `${collection}/reeve-webhook-ca`;
/** The key of the data that the replicas share. */
export const dataKey = 'authorities.json';

interface StoredSecret {
  readonly type: string;
  readonly metadata: { readonly labels?: object };
  readonly data?: Readonly<Record<string, string>>;
}

export interface ServedCertificate {
  readonly fingerprint: string;
  readonly notAfter: number;
}

export class SharedAuthoritySecret {
  readonly #cluster: ClusterAccess;
  /** Every private key that the Secret has held so far. No output may contain any of them. */
  readonly keys = new Set<string>();

  constructor(cluster: ClusterAccess) {
    this.#cluster = cluster;
  }

  async stored(): Promise<StoredSecret | undefined> {
    const { status, body } = await this.#cluster.admin.send('GET', path);
    return status === 200 ? (body as StoredSecret) : undefined;
  }

  /** Returns undefined when the Secret is missing or invalid. */
  async state(): Promise<AuthorityState | undefined> {
    const value = (await this.stored())?.data?.[dataKey];
    const state = value === undefined ? undefined : parseState(Buffer.from(value, 'base64').toString());
    for (const each of [state?.signing, state?.next]) if (each !== undefined) this.keys.add(each.keyPem);
    return state;
  }

  /** Returns the fingerprint of the authority that signs, or undefined when none signs. */
  async signer(): Promise<string | undefined> {
    const signing = (await this.state())?.signing;
    return signing === undefined ? undefined : fingerprintOf(signing.certPem);
  }

  async remove(): Promise<void> {
    await this.#cluster.admin.send('DELETE', path);
  }

  /** Replaces all data of the Secret. */
  async put(data: Readonly<Record<string, string>>): Promise<void> {
    const encoded: Record<string, string> = {};
    for (const [key, text] of Object.entries(data)) encoded[key] = Buffer.from(text).toString('base64');
    const metadata = { name: 'reeve-webhook-ca', namespace: 'reeve-system' };
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: 'Opaque',
      data: encoded,
    };
    await this.#cluster.admin.mustSend('PUT', path, secret);
  }

  async putState(text: string): Promise<void> {
    await this.put({ [dataKey]: text });
  }
}

export function fingerprintOf(certPem: string): string {
  return new X509Certificate(certPem).fingerprint256;
}

/** Returns the certificate that a new connection gets. With a bundle, verifies it as an API server does. */
export async function servedBy({ port }: Pick<Reeve, 'port'>, bundle?: string): Promise<ServedCertificate> {
  const servername = 'reeve-webhook.reeve-system.svc';
  const checked = bundle === undefined ? {} : { ca: bundle, rejectUnauthorized: true };
  const socket = await openTls(port, { servername, ...checked });
  const { fingerprint256: fingerprint, valid_to } = socket.getPeerCertificate();
  socket.destroy();
  return { fingerprint, notAfter: Date.parse(valid_to) };
}
