// Checks how long credentials are kept, and when they are read again.
import { expect, test } from 'vitest';
import {
  connectionTo,
  CredentialError,
  type ApiServer,
  type Credentials,
  type CredentialSource,
} from '../../../../src/kube/http/http-exchange.ts';
import { rejectionOf, stubCertificates } from '../stub-api-server.ts';

class TestSource implements CredentialSource {
  readonly server = new URL('https://127.0.0.1');
  readonly description = 'a test';
  readonly reads: string[] = [];
  token = 'one';
  ca = '';
  isBroken = false;

  read({ refused }: { readonly refused: boolean }): Promise<Credentials> {
    this.reads.push(refused ? 'refused' : 'old');
    if (this.isBroken) return Promise.reject(new CredentialError('broken'));
    return Promise.resolve({
      headers: { Authorization: `Bearer ${this.token}` },
      tls: { ...(this.ca === '' ? {} : { ca: this.ca }), rejectUnauthorized: true },
    });
  }
}

interface Setting {
  readonly source: TestSource;
  readonly connection: ApiServer;
  readonly pass: (milliseconds: number) => void;
}

async function connect(): Promise<Setting> {
  const source = new TestSource();
  let now = 0;
  const connection = await connectionTo(source, { monotonic: () => now });
  return { source, connection, pass: (milliseconds) => void (now += milliseconds) };
}

test('credentials are read at most once a minute', async () => {
  const { source, connection, pass } = await connect();
  source.token = 'two';
  pass(59_999);
  expect((await connection.authorize()).headers).toEqual({ Authorization: 'Bearer one' });
  pass(1);
  expect((await connection.authorize()).headers).toEqual({ Authorization: 'Bearer two' });
  expect(source.reads).toEqual(['old', 'old']);
});

test('equal credentials stay the same object', async () => {
  const { source, connection, pass } = await connect();
  const first = await connection.authorize();
  pass(60_000);
  expect(await connection.authorize()).toBe(first);
  source.token = 'two';
  pass(60_000);
  const second = await connection.authorize();
  expect(second).not.toBe(first);
  expect(second.tls).toBe(first.tls);
  source.ca = (await stubCertificates()).ca.certPem;
  pass(60_000);
  expect((await connection.authorize()).tls).not.toBe(first.tls);
});

test('refused credentials are read again at once, once for all callers', async () => {
  const { source, connection } = await connect();
  const first = await connection.authorize();
  source.token = 'two';
  const renewed = await Promise.all([1, 2, 3].map(() => connection.renew(first)));
  expect(new Set(renewed).size).toBe(1);
  expect(renewed[0]?.headers).toEqual({ Authorization: 'Bearer two' });
  // A later caller gets the credentials that were read in the meantime.
  expect(await connection.renew(first)).toBe(renewed[0]);
  expect(source.reads).toEqual(['old', 'refused']);
});

test('refused credentials that have not changed are the same object', async () => {
  const { connection } = await connect();
  const first = await connection.authorize();
  expect(await connection.renew(first)).toBe(first);
});

test('old credentials are used while reading fails, and reading is repeated after a minute', async () => {
  const { source, connection, pass } = await connect();
  const first = await connection.authorize();
  source.isBroken = true;
  pass(60_000);
  expect(await connection.authorize()).toBe(first);
  pass(59_999);
  expect(await connection.authorize()).toBe(first);
  expect(source.reads).toHaveLength(2);
  expect(await rejectionOf(connection.renew(first))).toEqual(new CredentialError('broken'));
  source.isBroken = false;
  source.token = 'two';
  pass(1);
  expect((await connection.authorize()).headers).toEqual({ Authorization: 'Bearer two' });
});

const notPem = 'the certificates for the API server are not PEM, or the key belongs to another certificate';

test.each<[string, Partial<Pick<TestSource, 'token' | 'ca'>>, string]>([
  [
    'a token of two lines',
    { token: 'canary\nX-Other: 1' },
    'the token for the API server is empty or has characters that are not allowed in a token',
  ],
  ['a CA that is not PEM', { ca: 'canary' }, notPem],
  ['broken PEM', { ca: '-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----' }, notPem],
])('%s is refused at the start, and the message does not quote it', async (_, change, message) => {
  const error = await rejectionOf(connectionTo(Object.assign(new TestSource(), change)));
  expect(error).toEqual(new CredentialError(message));
});

test('a key of another certificate is refused', async () => {
  const { ca, serving } = await stubCertificates();
  const tls = { cert: serving.certPem, key: ca.keyPem, rejectUnauthorized: true };
  const source = new TestSource();
  source.read = () => Promise.resolve({ headers: {}, tls });
  expect(await rejectionOf(connectionTo(source))).toEqual(new CredentialError(notPem));
});
