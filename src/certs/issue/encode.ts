// Encodes and signs one certificate; the only file that knows node-forge.
//
// node-forge encodes names, dates and extensions. It knows no keys but RSA, so this file writes the two parts of a
// certificate that name a kind of key: the public key, as node:crypto encodes it, and the algorithm of the signature. Keys
// and signatures come from node:crypto. node-forge parses nothing from outside.
import forge from 'node-forge';
import { randomBytes, type KeyObject } from 'node:crypto';
import type { asn1, pki } from 'node-forge';
import { type Extension, publicKeyInfo, signSha256 } from './keys.ts';

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

/** The algorithm has no parameters, while the parameters of RSA are NULL: RFC 5758, section 3.2. */
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
