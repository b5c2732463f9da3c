// Makes a certificate authority and a serving certificate signed by it; the only file that knows node-forge.
//
// node-forge only encodes what we made ourselves. Keys and signatures come from node:crypto, node:crypto judges the
// result, and nothing from outside is ever parsed by node-forge.
import { randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import forge from 'node-forge';
import type { pki } from 'node-forge';
import { authorityExtensions, servingExtensions } from './extensions.ts';
import type { IssuedCertificates } from './issued.ts';
import { makeRsaKeyPair, privateKeyPem, rsaNumbers, signSha256 } from './keys.ts';
import type { RsaKeyPair } from './keys.ts';
import { servingNames, serviceName } from './names.ts';
import { positiveSerial, serialLength } from './serial.ts';
import { assertIssuedWell } from './verify-issued.ts';

export type { IssuedCertificates };

declare module 'node-forge' {
  namespace pki {
    /** Exists since node-forge 0.6; the type package leaves it out. */
    function getTBSCertificate(certificate: Certificate): asn1.Asn1;
  }
}

export interface IssueRequest {
  readonly namespace: string;
  readonly now: Date;
  readonly caLifetimeDays: number;
  /** Cut to the lifetime of the authority: a certificate is worth nothing after its issuer. */
  readonly leafLifetimeDays: number;
  /** More DNS names or addresses for the serving certificate. */
  readonly extraNames?: readonly string[];
}

/** The longest lifetime in days: a hundred years, which keeps every date within the four-digit years of X.509. */
export const maxLifetimeDays = 36_500;

const secondMs = 1000;
const dayMs = 24 * 60 * 60 * secondMs;
// A client whose clock is late would otherwise refuse a new certificate as one of the future.
const backdatingMs = 60 * 60 * secondMs;

/** Rejects with a RangeError when a name or a lifetime of the request is not usable. */
export async function issueCertificates(
  request: IssueRequest,
  makeKeyPair: () => Promise<RsaKeyPair> = makeRsaKeyPair,
): Promise<IssuedCertificates> {
  const names = servingNames(request.namespace, request.extraNames ?? []);
  const validity = validitiesOf(request);
  const [caKeys, servingKeys] = await Promise.all([makeKeyPair(), makeKeyPair()]);
  const authority = unsigned(caKeys.publicKey, validity.ca, authorityName());
  authority.setExtensions(authorityExtensions());
  const serving = unsigned(servingKeys.publicKey, validity.serving, commonName(serviceName));
  serving.setIssuer(authority.subject.attributes);
  serving.setExtensions(servingExtensions(names, authority.generateSubjectKeyIdentifier().getBytes()));
  const issued = {
    ca: { certPem: await signed(authority, caKeys.privateKey), keyPem: privateKeyPem(caKeys.privateKey) },
    serving: {
      certPem: await signed(serving, caKeys.privateKey),
      keyPem: privateKeyPem(servingKeys.privateKey),
    },
  };
  assertIssuedWell(issued, names);
  return issued;
}

interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

function validitiesOf(request: IssueRequest): { readonly ca: Validity; readonly serving: Validity } {
  const now = Math.floor(request.now.getTime() / secondMs) * secondMs;
  const leafDays = Math.min(checkedDays(request.leafLifetimeDays), checkedDays(request.caLifetimeDays));
  const lasting = (days: number): Validity => ({
    notBefore: new Date(now - backdatingMs),
    notAfter: new Date(now + days * dayMs),
  });
  return { ca: lasting(request.caLifetimeDays), serving: lasting(leafDays) };
}

function checkedDays(days: number): number {
  if (isLifetimeDays(days)) return days;
  throw new RangeError(`a lifetime is a whole number of days from 1 to ${maxLifetimeDays}`);
}

export function isLifetimeDays(days: number): boolean {
  return Number.isInteger(days) && days >= 1 && days <= maxLifetimeDays;
}

/** Differs for every generation: clients look issuers up by name, and two of the same name would be mistaken. */
function authorityName(): pki.CertificateField[] {
  return commonName(`Reeve CA ${randomBytes(8).toString('hex')}`);
}

/** node-forge writes names as PrintableString, which has no `_`, no `@` and nothing beyond ASCII. */
function commonName(value: string): pki.CertificateField[] {
  return [
    { name: 'organizationName', value: 'Reeve' },
    { name: 'commonName', value },
  ];
}

/** A certificate that names itself as issuer and has no extensions yet. */
function unsigned(key: KeyObject, validity: Validity, subject: pki.CertificateField[]): pki.Certificate {
  const certificate = forge.pki.createCertificate();
  const { modulus, exponent } = rsaNumbers(key);
  certificate.publicKey = forge.pki.setRsaPublicKey(
    new forge.jsbn.BigInteger(modulus, 16),
    new forge.jsbn.BigInteger(exponent, 16),
  );
  certificate.serialNumber = positiveSerial(randomBytes(serialLength));
  certificate.validity = { ...validity };
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  return certificate;
}

/** Does the work of node-forge's own `sign`, which would compute with the private key in JavaScript, on this thread. */
async function signed(certificate: pki.Certificate, key: KeyObject): Promise<string> {
  const algorithm = forge.pki.oids['sha256WithRSAEncryption'];
  if (algorithm === undefined) throw new Error('node-forge does not know sha256WithRSAEncryption');
  certificate.signatureOid = algorithm;
  certificate.siginfo.algorithmOid = algorithm;
  certificate.tbsCertificate = forge.pki.getTBSCertificate(certificate);
  const content = forge.asn1.toDer(certificate.tbsCertificate).getBytes();
  const signature = await signSha256(Buffer.from(content, 'latin1'), key);
  certificate.signature = signature.toString('latin1');
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}
