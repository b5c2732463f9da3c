// Keeps the credentials for the API server: reads them again after a minute, and when the server refuses them.
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { systemClock, type Clock } from '../../base/clock.ts';
import { SingleFlight } from '../../base/single-flight.ts';

export interface TlsCredentials {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** The same object as long as its content is the same. */
  readonly tls: TlsCredentials;
}

/** Reads credentials, for example from a kubeconfig. */
export interface CredentialSource {
  readonly server: URL;
  /** For messages: `the kubeconfig /home/ann/.kube/config, context dev`. */
  readonly description: string;
  /** Set when this program runs in a Pod. */
  readonly isOfPod?: true;
  /** Rejects with a CredentialError. `refused`: the server refused the credentials that were read last. */
  read(options: { readonly refused: boolean }): Promise<Credentials>;
}

export interface ApiServer {
  readonly server: URL;
  readonly description: string;
  /** True when this program runs in a Pod. A Service then sends it requests once its probes succeed. */
  readonly isOfPod?: boolean;
  /** Returns credentials read less than a minute ago. Rejects with a CredentialError when no reading ever succeeded. */
  authorize(): Promise<Credentials>;
  /** Reads again after a refusal, once for all callers. Returns the same object when nothing is new. */
  renew(refused: Credentials): Promise<Credentials>;
}

/** Why there are no credentials, in words for the person who runs the program, without secrets. */
export class CredentialError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CredentialError';
  }
}

/** The interval that client-go uses for token files. */
const freshMs = 60_000;

/** Reads the credentials once, so that a broken source rejects at the start. */
export async function connectionTo(
  source: CredentialSource,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): Promise<ApiServer> {
  const connection = new Connection(source, clock);
  await connection.authorize();
  return connection;
}

class Connection implements ApiServer {
  readonly server: URL;
  readonly description: string;
  readonly isOfPod: boolean;
  readonly #source: CredentialSource;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #reading = new SingleFlight<Credentials>();
  #last: { readonly credentials: Credentials; readonly at: number } | undefined;

  constructor(source: CredentialSource, clock: Pick<Clock, 'monotonic'>) {
    this.server = source.server;
    this.description = source.description;
    this.isOfPod = source.isOfPod ?? false;
    this.#source = source;
    this.#clock = clock;
  }

  async authorize(): Promise<Credentials> {
    const last = this.#last;
    if (last === undefined) return await this.#read(false);
    if (this.#clock.monotonic() - last.at < freshMs) return last.credentials;
    try {
      return await this.#read(false);
    } catch {
      // The old credentials are probably still valid. If not, the server refuses them and they are read again.
      return this.#keep(last.credentials);
    }
  }

  async renew(refused: Credentials): Promise<Credentials> {
    const current = this.#last?.credentials;
    return current === undefined || current === refused ? await this.#read(true) : current;
  }

  async #read(refused: boolean): Promise<Credentials> {
    return await this.#reading.run(String(refused), async () => {
      const read = checked(await this.#source.read({ refused }));
      return this.#keep(merged(this.#last?.credentials, read));
    });
  }

  #keep(credentials: Credentials): Credentials {
    this.#last = { credentials, at: this.#clock.monotonic() };
    return credentials;
  }
}

/** Keeps the old object when the content is equal, because connections are kept per object. */
function merged(last: Credentials | undefined, read: Credentials): Credentials {
  if (last === undefined) return read;
  const tls = isEqual(last.tls, read.tls) ? last.tls : read.tls;
  return tls === last.tls && isEqual(last.headers, read.headers) ? last : { headers: read.headers, tls };
}

function isEqual(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Node would report these problems only at the first request, and quote a part of the value. */
function checked(credentials: Credentials): Credentials {
  if (Object.values(credentials.headers).some((value) => !/^[\x20-\x7e]*[\x21-\x7e]$/.test(value))) {
    throw new CredentialError(
      'the token for the API server is empty or has characters that are not allowed in a token',
    );
  }
  const { ca, cert, key } = credentials.tls;
  try {
    // createSecureContext silently ignores a CA that cannot be read.
    if (ca !== undefined) void new X509Certificate(ca);
    createSecureContext({ ca, cert, key });
  } catch {
    throw new CredentialError(
      'the certificates for the API server are not PEM, or the key belongs to another certificate',
    );
  }
  return credentials;
}
