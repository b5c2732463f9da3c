// Issues certificate authorities and serving certificates, and checks each with node:crypto before it is used.
import { createHash, createPublicKey, randomBytes, X509Certificate, type KeyObject } from 'node:crypto';
import type { CertificateContent } from './encode.ts';
import {
  authorityExtensions,
  servingExtensions,
  makeKeyPair,
  parsePrivateKey,
  privateKeyPem,
  publicKeyInfo,
  type KeyPair,
} from './keys.ts';
import { servingNames, serviceName, type ServingNames } from './names.ts';

/** The longest lifetime in days: a hundred years, which keeps every date within the four-digit years of X.509. */
export const maxLifetimeDays = 36_500;

const secondMs = 1000;
const dayMs = 24 * 60 * 60 * secondMs;
/** A client with a slow clock would refuse a certificate that is valid from now. */
export const backdatingMs = 60 * 60 * secondMs;

/** Rejects with a RangeError when the lifetime is out of range. */
export async function issueAuthority(
  lifetimeMs: number,
  now: Date,
  makeKeys: () => Promise<KeyPair> = makeKeyPair,
): Promise<PemPair> {
  const validity = validityOf(lifetimeMs, now);
  const { publicKey, privateKey } = await makeKeys();
  // A new name for each authority: clients find issuers by name, and would confuse two with the same name.
  const subject = `Reeve CA ${randomBytes(8).toString('hex')}`;
  const extensions = authorityExtensions(keyIdentifier(publicKey));
  const content = { subject, issuer: subject, ...validity, publicKey, extensions };
  const authority = {
    certPem: await signed(content, privateKey),
    keyPem: privateKeyPem(privateKey),
  };
  assertAuthority(authority);
  return authority;
}

/** The authority must come from `issueAuthority`. The certificate expires with the authority at the latest. */
export async function issueServing(
  authority: PemPair,
  names: ServingNames,
  lifetimeMs: number,
  now: Date,
  makeKeys: () => Promise<KeyPair> = makeKeyPair,
): Promise<PemPair> {
  const validity = validityOf(lifetimeMs, now);
  const { publicKey, privateKey } = await makeKeys();
  const issuer = new X509Certificate(authority.certPem);
  const issuerKey = parsePrivateKey(authority.keyPem);
  if (issuerKey === undefined) throw new RangeError('the authority has no key');
  const content = {
    subject: serviceName,
    issuer: /^CN=(.*)$/m.exec(issuer.subject)?.[1] ?? '',
    notBefore: validity.notBefore,
    notAfter: new Date(Math.min(validity.notAfter.getTime(), issuer.validToDate.getTime())),
    publicKey,
    extensions: servingExtensions(names, keyIdentifier(publicKey), keyIdentifier(createPublicKey(issuerKey))),
  };
  const serving = {
    certPem: await signed(content, issuerKey),
    keyPem: privateKeyPem(privateKey),
  };
  assertServing(serving, authority, names);
  return serving;
}

interface IssueRequest {
  readonly namespace: string;
  readonly now: Date;
  readonly caLifetimeDays: number;
  readonly leafLifetimeDays: number;
  /** More DNS names or addresses for the serving certificate. */
  readonly extraNames?: readonly string[];
}

/** Issues both. Rejects with a RangeError when a name or a lifetime is invalid. */
export async function issueCertificates(
  request: IssueRequest,
  makeKeys: () => Promise<KeyPair> = makeKeyPair,
): Promise<IssuedCertificates> {
  const { namespace, now, caLifetimeDays, leafLifetimeDays, extraNames = [] } = request;
  if (!isLifetimeDays(caLifetimeDays) || !isLifetimeDays(leafLifetimeDays)) throw badLifetime();
  const names = servingNames(namespace, extraNames);
  const ca = await issueAuthority(caLifetimeDays * dayMs, now, makeKeys);
  return { ca, serving: await issueServing(ca, names, leafLifetimeDays * dayMs, now, makeKeys) };
}

/** Loads node-forge only when a certificate is issued: half of the replicas never issue one. */
async function signed(content: CertificateContent, key: KeyObject): Promise<string> {
  const { signedCertificate } = await import('./encode.ts');
  return await signedCertificate(content, key);
}

function isLifetimeDays(days: number): boolean {
  return Number.isInteger(days) && days >= 1 && days <= maxLifetimeDays;
}

function badLifetime(): RangeError {
  return new RangeError(`a lifetime is at least a second and at most ${maxLifetimeDays} days`);
}

function validityOf(lifetimeMs: number, now: Date): { readonly notBefore: Date; readonly notAfter: Date } {
  if (!(lifetimeMs >= secondMs && lifetimeMs <= maxLifetimeDays * dayMs)) throw badLifetime();
  // X.509 has whole seconds only.
  const begin = Math.floor(now.getTime() / secondMs) * secondMs;
  return { notBefore: new Date(begin - backdatingMs), notAfter: new Date(begin + lifetimeMs) };
}

/** The first method of RFC 5280, section 4.2.1.2, but over the whole SubjectPublicKeyInfo: any will do that is unique. */
function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1').update(publicKeyInfo(key)).digest();
}

/** Throws when a check fails. That is a bug of this program or of node-forge. */
export function assertAuthority(authority: PemPair): void {
  const ca = new X509Certificate(authority.certPem);
  assertAll({
    'the authority is one': ca.ca,
    'the authority issued itself': ca.checkIssued(ca) && ca.verify(ca.publicKey),
    'the key of the authority is its own': isKeyOf(ca, authority.keyPem),
  });
}

/** Throws when a check fails, like `assertAuthority`. */
export function assertServing(pair: PemPair, authority: PemPair, names: ServingNames): void {
  const ca = new X509Certificate(authority.certPem);
  const serving = new X509Certificate(pair.certPem);
  assertAll({
    'the server is no authority': !serving.ca,
    'the authority issued the server': serving.checkIssued(ca) && serving.verify(ca.publicKey),
    'the key of the server is its own': isKeyOf(serving, pair.keyPem),
    'the server has its DNS names': names.dns.every((name) => serving.checkHost(name) !== undefined),
    'the server has its addresses': names.ips.every((ip) => serving.checkIP(ip) !== undefined),
    'the serial numbers differ': ca.serialNumber !== serving.serialNumber,
  });
}

function isKeyOf(certificate: X509Certificate, keyPem: string): boolean {
  const key = parsePrivateKey(keyPem);
  return key !== undefined && certificate.checkPrivateKey(key);
}

function assertAll(checks: Readonly<Record<string, boolean>>): void {
  const failed = Object.keys(checks).filter((name) => checks[name] !== true);
  if (failed.length > 0) throw new Error(`an issued certificate fails its own check: ${failed.join(', ')}`);
}

export interface PemPair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface IssuedCertificates {
  readonly ca: PemPair;
  readonly serving: PemPair;
}
