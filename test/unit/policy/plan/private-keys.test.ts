// Tests that private keys are found in every form in which users store them, and that certificates and texts pass.
import { createHash, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { holdsPrivateKey } from '../../../../src/policy/plan/private-keys.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');

const pem = (key: KeyObject, type: 'pkcs8' | 'pkcs1' | 'sec1' = 'pkcs8'): string =>
  key.export({ format: 'pem', type }).toString();
const der = (key: KeyObject, type: 'pkcs8' | 'pkcs1' | 'sec1' = 'pkcs8'): Buffer =>
  key.export({ format: 'der', type });
const cipher = { type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
const encryptedPem = ec.privateKey.export({ format: 'pem', ...cipher });
const encryptedDer = ec.privateKey.export({ format: 'der', ...cipher });
const [certificate = ''] = rootCertificates;
const base64 = (value: string | Buffer): string => Buffer.from(value).toString('base64');
const wrapped = (text: string, by: string): string => (text.match(/.{1,64}/gu) ?? []).join(by);

describe('a value with a private key is found', () => {
  test.for<[string, string | Buffer]>([
    ['PKCS #8 in PEM', pem(rsa.privateKey)],
    ['PKCS #1 in PEM', pem(rsa.privateKey, 'pkcs1')],
    ['SEC 1 in PEM', pem(ec.privateKey, 'sec1')],
    ['encrypted PKCS #8 in PEM', encryptedPem],
    ['OpenSSH', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\n'],
    ['PGP', '-----BEGIN PGP PRIVATE KEY BLOCK-----\n'],
    ['SSH2', '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n'],
    ['PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\n'],
    ['age', 'AGE-SECRET-KEY-1QQQQ\n'],
    ['a JWK', JSON.stringify(ec.privateKey.export({ format: 'jwk' }))],
    ['PKCS #8 in DER', der(rsa.privateKey)],
    ['Ed25519 in DER', der(ed.privateKey)],
    ['PKCS #1 in DER', der(rsa.privateKey, 'pkcs1')],
    ['SEC 1 in DER', der(ec.privateKey, 'sec1')],
    ['encrypted PKCS #8 in DER', encryptedDer],
    ['PKCS #12', Buffer.from('3082010a0201033082010006092a864886f70d010701', 'hex')],
    ['a Java key store', Buffer.from('feedfeed00000002', 'hex')],
    ['PEM after a certificate', `${certificate}\n${pem(ec.privateKey)}`],
    ['PEM without line breaks', pem(ec.privateKey).replaceAll('\n', '\\n')],
    ['PEM in UTF-16', Buffer.from(pem(ec.privateKey), 'utf16le')],
    ['PEM in base64', base64(pem(ec.privateKey))],
    ['PEM in base64 with line breaks', wrapped(base64(pem(rsa.privateKey)), '\r\n  ')],
    ['PEM in base64, in JSON', JSON.stringify({ key: wrapped(base64(pem(rsa.privateKey)), '\n') })],
    ['PEM in base64, twice', base64(base64(pem(ec.privateKey)))],
    ['a kubeconfig', `users:\n- user:\n    client-key-data: ${base64(pem(ec.privateKey))}\n`],
    ['DER in base64', base64(der(ed.privateKey))],
    ['DER in base64url', der(rsa.privateKey).toString('base64url')],
    ['DER in base64 after a long word', `${'word'.repeat(11)} ${base64(der(ed.privateKey))}`],
    ['PKCS #12 of indefinite length', Buffer.from('3080020103308006092a864886f70d010701a080', 'hex')],
    ['a Bouncy Castle key store', Buffer.from('000000020000001400', 'hex')],
    ['PEM in a URL', encodeURIComponent(pem(ec.privateKey))],
    ['PEM in base64 in a URL', `key=${encodeURIComponent(base64(pem(ec.privateKey)))}`],
    [
      'PEM in base64 after a certificate, in JSON',
      JSON.stringify({ all: wrapped(base64(`${certificate}\n${pem(rsa.privateKey)}`), '\n') }),
    ],
    [
      'a JWK in JSON, in JSON',
      JSON.stringify({ jwk: JSON.stringify(ec.privateKey.export({ format: 'jwk' })) }),
    ],
    ['a JWK in YAML', `kty: OKP\nd: ${'a'.repeat(43)}\n`],
    ['a key of .NET', `<RSAKeyValue><D>${base64(randomBytes(64))}</D></RSAKeyValue>`],
    ['DER in hexadecimal', der(rsa.privateKey).toString('hex')],
    ['DER in base64, in a line', `key=${base64(der(rsa.privateKey))}`],
  ])('%s', ([, value]) => {
    expect(holdsPrivateKey(Buffer.from(value))).toBe(true);
  });
});

describe('a value without a private key passes', () => {
  test.for<[string, string | Buffer]>([
    ['nothing', ''],
    ['a text', 'the private key is in the vault'],
    ['a certificate', certificate],
    ['all authorities that Node knows', rootCertificates.join('\n')],
    ['a certificate in base64', base64(certificate)],
    ['a certificate in DER', Buffer.from(certificate.replaceAll(/-----[^-]+-----/gu, ''), 'base64')],
    ['a public key in PEM', rsa.publicKey.export({ format: 'pem', type: 'spki' })],
    ['a public key in PKCS #1', rsa.publicKey.export({ format: 'der', type: 'pkcs1' })],
    ['a public JWK', JSON.stringify(ec.publicKey.export({ format: 'jwk' }))],
    ['a hash', createHash('sha512').update('x').digest('hex')],
    ['escapes', JSON.stringify({ path: 'C:\\new\\table', percent: '100%25', line: 'a\nb' })],
    ['the beginning of DER', Buffer.from('3084', 'hex')],
  ])('%s', ([, value]) => {
    expect(holdsPrivateKey(Buffer.from(value))).toBe(false);
  });
});

test.for<[string, string]>([
  ['members of a JWK', '"kty":'],
  ['beginnings of PEM', '-----BEGIN A '],
  ['spaces', `"d"${' '.repeat(50)}`],
  ['words', `${'a'.repeat(40)} `],
])('a long text of %s is searched in little time', ([, part]) => {
  expect(holdsPrivateKey(Buffer.from(part.repeat(1_000_000 / part.length)))).toBe(false);
});
