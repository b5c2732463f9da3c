// Encodes and signs one certificate; the only file that knows node-forge.
//
// node-forge encodes names, dates and extensions. It knows RSA alone, so the two places of a certificate that speak of
// keys are put in by us: the public key in the encoding of node:crypto, and the algorithm of the signature. Keys and
// signatures come from node:crypto, and nothing from outside is ever parsed by node-forge.
import forge from 'node-forge';
import type { asn1, pki } from 'node-forge';
import { randomBytes, type KeyObject, createPrivateKey, generateKeyPair, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { isIP } from 'node:net';
import { isNamespaceName as isDnsLabel } from '../../schema/kubernetes-names.ts';

declare module 'node-forge' {
  namespace pki {
    /** Exists since node-forge 0.6; the type package leaves it out. */
    function getTBSCertificate(certificate: Certificate): asn1.Asn1;
  }
}

/** The common names of subject and issuer; both are of the organization `Reeve`. */
export interface CertificateContent {
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Extension[];
}

/** In PEM. */
export async function signedCertificate(content: CertificateContent, key: KeyObject): Promise<string> {
  const tbs = toBeSigned(content);
  const signature = await signSha256(Buffer.from(forge.asn1.toDer(tbs).getBytes(), 'latin1'), key);
  const whole = node(asn1Type.SEQUENCE, [
    tbs,
    ecdsaWithSha256(),
    // The first byte counts the unused bits of the last byte: none.
    node(asn1Type.BITSTRING, `\0${signature.toString('latin1')}`),
  ]);
  const body = forge.asn1.toDer(whole).getBytes();
  return forge.pem.encode({ type: 'CERTIFICATE', body }).replaceAll('\r\n', '\n');
}

const { Class: asn1Class, Type: asn1Type } = forge.asn1;

/** The places of TBSCertificate: RFC 5280, section 4.1. */
const signaturePlace = 2;
const publicKeyPlace = 6;

function toBeSigned(content: CertificateContent): asn1.Asn1 {
  const certificate = forge.pki.createCertificate();
  certificate.serialNumber = positiveSerial(randomBytes(serialLength));
  certificate.validity = { notBefore: content.notBefore, notAfter: content.notAfter };
  certificate.setSubject(nameOf(content.subject));
  certificate.setIssuer(nameOf(content.issuer));
  certificate.setExtensions([...content.extensions]);
  // Placeholders for the key and the algorithm; the next lines replace them.
  const one = new forge.jsbn.BigInteger('1');
  certificate.publicKey = forge.pki.setRsaPublicKey(one, one);
  certificate.siginfo.algorithmOid = ecdsaWithSha256Oid;
  const tbs = forge.pki.getTBSCertificate(certificate);
  const key = forge.asn1.fromDer(publicKeyInfo(content.publicKey).toString('latin1'));
  const parts = partsOf(tbs).with(signaturePlace, ecdsaWithSha256()).with(publicKeyPlace, key);
  return node(asn1Type.SEQUENCE, parts);
}

function partsOf({ value }: asn1.Asn1): asn1.Asn1[] {
  if (typeof value === 'string') throw new Error('node-forge does not encode a certificate as a sequence');
  return value;
}

const ecdsaWithSha256Oid = '1.2.840.10045.4.3.2';

/** Without parameters, where those of RSA are NULL: RFC 5758, section 3.2. */
function ecdsaWithSha256(): asn1.Asn1 {
  return node(asn1Type.SEQUENCE, [node(asn1Type.OID, forge.asn1.oidToDer(ecdsaWithSha256Oid).getBytes())]);
}

function node(type: asn1.Type, value: string | asn1.Asn1[]): asn1.Asn1 {
  return forge.asn1.create(asn1Class.UNIVERSAL, type, typeof value !== 'string', value);
}

/** node-forge writes names as PrintableString, which has no `_`, no `@` and nothing beyond ASCII. */
function nameOf(commonName: string): pki.CertificateField[] {
  return [
    { name: 'organizationName', value: 'Reeve' },
    { name: 'commonName', value: commonName },
  ];
}

export const serialLength = 16;

/**
 * Makes a serial number, as hexadecimal text, of random bytes. The two top bits become 01: a set top bit would make
 * the number negative, which Go refuses (https://go.dev/doc/go1.23#crypto/x509), and a first byte of zero would make
 * it zero or an encoding that is not the shortest one (RFC 5280, section 4.1.2.2; X.690, section 8.3.2).
 */
export function positiveSerial(random: Uint8Array): string {
  if (random.length !== serialLength) throw new RangeError(`a serial number takes ${serialLength} bytes`);
  const bytes = Buffer.from(random);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes.toString('hex');
}

// Keys on the curve P-256, and signatures with them, made by OpenSSL on a thread of its own so that no request waits.

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const generate = promisify(generateKeyPair);

/** With P-256 a handshake costs the server a tenth of one with RSA of the same strength. */
export async function makeKeyPair(): Promise<KeyPair> {
  return generate('ec', { namedCurve: 'prime256v1' });
}

/** Returns the signature `ecdsa-with-SHA256` in DER. */
export function signSha256(content: Buffer, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha256', content, key, (error, signature) => {
      if (error) reject(error);
      else resolve(signature);
    });
  });
}

export function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Returns undefined for an invalid key. The error of the library is dropped, because it may quote the key. */
export function parsePrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    return undefined;
  }
}

/** The SubjectPublicKeyInfo of a key, in DER: algorithm, curve and point. */
export function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

// The X.509 extensions of our two kinds of certificate, as the data that node-forge encodes.

export interface Extension {
  readonly name: string;
  readonly critical?: boolean;
  readonly [field: string]: unknown;
}

// The tags of GeneralName: RFC 5280, section 4.2.1.6.
const dnsName = 2;
const ipAddress = 7;

/** A path length of 0: this authority signs servers and never another authority. */
export function authorityExtensions(keyIdentifier: Buffer): Extension[] {
  return [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    subjectKey(keyIdentifier),
  ];
}

/** Go looks at the alternative names only, never at the common name: https://go.dev/doc/go1.15#commonname */
export function servingExtensions(
  names: ServingNames,
  keyIdentifier: Buffer,
  authorityKeyIdentifier: Buffer,
): Extension[] {
  const altNames = [
    ...names.dns.map((value) => ({ type: dnsName, value })),
    ...names.ips.map((ip) => ({ type: ipAddress, ip })),
  ];
  return [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames },
    subjectKey(keyIdentifier),
    { name: 'authorityKeyIdentifier', keyIdentifier: authorityKeyIdentifier.toString('latin1') },
  ];
}

/** In DER: left to itself, node-forge would take the identifier of an RSA key. */
function subjectKey(identifier: Buffer): Extension {
  const octetString = Buffer.from([0x04, identifier.length]);
  return {
    name: 'subjectKeyIdentifier',
    value: Buffer.concat([octetString, identifier]).toString('latin1'),
  };
}

// Lists the DNS names and addresses in the webhook's serving certificate.

export interface ServingNames {
  readonly dns: readonly string[];
  readonly ips: readonly string[];
}

/** The name of the Service and, as subject, of the serving certificate. */
export const serviceName = 'reeve-webhook';

/**
 * The API server calls `<service>.<namespace>.svc`, whatever address that leads to:
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference
 * The other names are for people and tests; the addresses for a `url` on the same machine.
 */
export function servingNames(namespace: string, extraNames: readonly string[]): ServingNames {
  if (!isDnsLabel(namespace)) throw new RangeError('the namespace is not an RFC 1123 label');
  const service = `${serviceName}.${namespace}`;
  const own = [serviceName, service, `${service}.svc`, `${service}.svc.cluster.local`, 'localhost'];
  const extra = extraNames.map((name) => name.toLowerCase());
  const extraDns = extra.filter((name) => isIP(name) === 0);
  if (!extraDns.every(isDnsName)) throw new RangeError('an extra name is neither a DNS name nor an address');
  const extraIps = extra.filter((name) => isIP(name) !== 0);
  return { dns: unique([...own, ...extraDns]), ips: unique(['127.0.0.1', '::1', ...extraIps]) };
}

/** Refuses wildcards, because no caller of the webhook needs one. */
function isDnsName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((part) => isDnsLabel(part));
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
