// What every request to the API server carries, read again before it is too old and when the server refuses it.
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
  /** The same object for as long as its content is the same. */
  readonly tls: TlsCredentials;
}

/** Where credentials come from. */
export interface CredentialSource {
  readonly server: URL;
  /** For people: `the kubeconfig /home/ann/.kube/config, context dev`. */
  readonly description: string;
  /** Where Kubernetes itself runs this program. */
  readonly isOfPod?: true;
  /** Rejects with a CredentialError. `refused`: the server no longer takes what was read last. */
  read(options: { readonly refused: boolean }): Promise<Credentials>;
}

export interface ApiServer {
  readonly server: URL;
  readonly description: string;
  /** Whether Kubernetes itself runs this program, and leads others to it once its probes say so. */
  readonly isOfPod?: boolean;
  /** What was read less than a minute ago. Rejects with a CredentialError when there has never been any. */
  authorize(): Promise<Credentials>;
  /** Reads again what the server refused, once for all who ask; the same object when there is nothing new. */
  renew(refused: Credentials): Promise<Credentials>;
}

/** Why there is no way to the API server, in words for whoever runs the program, without anything secret. */
export class CredentialError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CredentialError';
  }
}

/** As client-go does for token files. */
const freshMs = 60_000;

/** Reads once to see that it works. */
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
      // What was good a minute ago mostly still is; if not, the server refuses it and it is read once more.
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

/** Equal content is the same object, because connections are kept by it. */
function merged(last: Credentials | undefined, read: Credentials): Credentials {
  if (last === undefined) return read;
  const tls = isEqual(last.tls, read.tls) ? last.tls : read.tls;
  return tls === last.tls && isEqual(last.headers, read.headers) ? last : { headers: read.headers, tls };
}

function isEqual(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Node would say so only when a request is made, and then quote a part of it. */
function checked(credentials: Credentials): Credentials {
  if (Object.values(credentials.headers).some((value) => !/^[\x20-\x7e]*[\x21-\x7e]$/.test(value))) {
    throw new CredentialError('the token for the API server is empty, or has characters that no token has');
  }
  const { ca, cert, key } = credentials.tls;
  try {
    // A CA that cannot be read would be passed over in silence.
    if (ca !== undefined) void new X509Certificate(ca);
    createSecureContext({ ca, cert, key });
  } catch {
    throw new CredentialError(
      'the certificates for the API server are not PEM, or a key belongs to another one',
    );
  }
  return credentials;
}
