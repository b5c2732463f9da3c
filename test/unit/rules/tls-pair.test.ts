// Which private keys are read at all: those of TLS, and no others, however long it would take to read them.
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readCertificate, readPrivateKey } from '../../../src/rules/secret-tls.ts';

function value(text: string) {
  return { kind: 'bytes', bytes: Buffer.from(text) } as const;
}

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;

describe('keys that TLS knows are read', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  test.for([
    ['RSA', rsa.export(pkcs8)],
    ['RSA in its own form', rsa.export({ type: 'pkcs1', format: 'pem' })],
    ['an elliptic curve', ec.export(pkcs8)],
    ['an elliptic curve in its own form', ec.export({ type: 'sec1', format: 'pem' })],
    ['Ed25519', generateKeyPairSync('ed25519').privateKey.export(pkcs8)],
  ] as const)('%s', ([, text]) => {
    expect(readPrivateKey(value(String(text)))?.type).toBe('private');
  });
});

/** One element of DER. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

function pem(label: string, content: Buffer): string {
  return `-----BEGIN ${label}-----\n${content.toString('base64')}\n-----END ${label}-----\n`;
}

/** Reading it would raise one number of so many bytes to another one: minutes for thousands of bytes. */
function dsaKey(bytes: number, version = Buffer.from([0])): string {
  const number = (content: Buffer): Buffer => der(0x02, Buffer.from([0]), content);
  const large = Buffer.alloc(bytes, 0xff);
  large[bytes - 1] = 0xfd;
  const parameters = der(0x30, number(large), number(large), der(0x02, Buffer.from([3])));
  const algorithm = der(0x30, der(0x06, Buffer.from('2a8648ce380401', 'hex')), parameters);
  return pem('PRIVATE KEY', der(0x30, der(0x02, version), algorithm, der(0x04, number(large))));
}

test.for([
  ['DSA', dsaKey(4000)],
  [
    'DSA with the identifier of RSA in its version',
    dsaKey(4000, Buffer.from('06092a864886f70d010101', 'hex')),
  ],
  ['DSA in its own form', pem('DSA PRIVATE KEY', der(0x30))],
  ['nothing', pem('PRIVATE KEY', Buffer.alloc(0))],
  ['bytes at random', pem('PRIVATE KEY', Buffer.from('3082ffff02010030ff06', 'hex'))],
  [
    'a block in the middle of a line',
    `x${generateKeyPairSync('ed25519').privateKey.export(pkcs8).toString()}`,
  ],
] as const)('%s is not read', ([, text]) => {
  expect(readPrivateKey(value(text))).toBeUndefined();
  expect(readCertificate(value(text))).toBeUndefined();
});
