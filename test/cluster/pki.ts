// Creates the keys of a control plane: an authority, its certificates for servers and users, and a key for tokens.
import forge from 'node-forge';
import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { pki } from 'node-forge';
import { privateKeyPem } from '../../src/certs/issue/keys.ts';
import { positiveSerial, serialLength } from '../../src/certs/issue/encode.ts';

export interface PemPair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Keys {
  readonly authority: PemPair;
  readonly server: PemPair;
  /** The key of all users. The certificate holds the name of the user. */
  readonly userKeyPem: string;
  readonly serviceAccount: { readonly privatePem: string; readonly publicPem: string };
}

const dayMs = 24 * 60 * 60 * 1000;
const lifetimeMs = 30 * dayMs;
const backdatingMs = 5 * 60 * 1000;

/** The Service `kubernetes` has the first address of the service range. */
const serverNames: readonly object[] = [
  { type: 2, value: 'localhost' },
  { type: 2, value: 'kubernetes.default.svc' },
  { type: 7, ip: '127.0.0.1' },
  { type: 7, ip: '10.0.0.1' },
];

/** RSA, because node-forge signs only with RSA. */
const makeRsaKeyPair = async () =>
  await promisify(generateKeyPair)('rsa', { modulusLength: 2048, publicExponent: 0x1_00_01 });

export async function makeKeys(): Promise<Keys> {
  const [authority, server, users, tokens] = await Promise.all([
    makeRsaKeyPair(),
    makeRsaKeyPair(),
    makeRsaKeyPair(),
    makeRsaKeyPair(),
  ]);
  const keyPem = privateKeyPem(authority.privateKey);
  const own = certificate({ keyPem, subject: nameOf('reeve-test-ca', []), extensions: authorityExtensions });
  const issuer = { certPem: own, keyPem };
  return {
    authority: issuer,
    server: serverPair(issuer, privateKeyPem(server.privateKey)),
    userKeyPem: privateKeyPem(users.privateKey),
    serviceAccount: {
      privatePem: privateKeyPem(tokens.privateKey),
      publicPem: tokens.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    },
  };
}

/** Issues a client certificate: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates */
export function userCertificate(
  authority: PemPair,
  keyPem: string,
  user: string,
  groups: readonly string[],
): string {
  return certificate({
    keyPem,
    subject: nameOf(user, groups),
    extensions: [
      { name: 'keyUsage', critical: true, digitalSignature: true },
      { name: 'extKeyUsage', clientAuth: true },
    ],
    issuer: authority,
  });
}

function serverPair(issuer: PemPair, keyPem: string): PemPair {
  const extensions = [
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: serverNames },
  ];
  return {
    keyPem,
    certPem: certificate({ keyPem, subject: nameOf('kube-apiserver', []), extensions, issuer }),
  };
}

const authorityExtensions: readonly object[] = [
  { name: 'basicConstraints', critical: true, cA: true },
  { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
];

interface CertificateRequest {
  readonly keyPem: string;
  readonly subject: readonly pki.CertificateField[];
  readonly extensions: readonly object[];
  /** Default: the certificate signs itself. */
  readonly issuer?: PemPair;
}

function certificate({ keyPem, subject, extensions, issuer }: CertificateRequest): string {
  const key = forge.pki.privateKeyFromPem(keyPem);
  const made = forge.pki.createCertificate();
  made.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
  made.serialNumber = positiveSerial(randomBytes(serialLength));
  made.validity.notBefore = new Date(Date.now() - backdatingMs);
  made.validity.notAfter = new Date(Date.now() + lifetimeMs);
  made.setSubject([...subject]);
  made.setIssuer(
    issuer === undefined ? [...subject] : forge.pki.certificateFromPem(issuer.certPem).subject.attributes,
  );
  made.setExtensions([...extensions]);
  made.sign(
    issuer === undefined ? key : forge.pki.privateKeyFromPem(issuer.keyPem),
    forge.md.sha256.create(),
  );
  return forge.pki.certificateToPem(made).replaceAll('\r\n', '\n');
}

/** UTF8String allows every name. node-forge's default, PrintableString, has no `@` and no `_`. */
function nameOf(user: string, groups: readonly string[]): readonly pki.CertificateField[] {
  // The type package declares the type of a value as its class.
  const valueTagClass = forge.asn1.Type.UTF8 as number as forge.asn1.Class;
  const field = (name: string, value: string): pki.CertificateField => ({ name, value, valueTagClass });
  return [...groups.map((group) => field('organizationName', group)), field('commonName', user)];
}
