// Reads and writes the state that replicas share: the signing authority, the next one, and the retired ones.
import { X509Certificate } from 'node:crypto';
import { isJsonObject, ownMember } from '../../base/json.ts';
import { backdatingMs, type PemPair } from '../issue/issue.ts';
import { parsePrivateKey } from '../issue/keys.ts';

/** An authority with its key. Times are in milliseconds since 1970. */
export interface Authority extends PemPair {
  readonly createdAt: number;
  readonly notAfter: number;
}

/** An authority without its key. It stays trusted until the last certificate it may have signed expires. */
export interface RetiredAuthority {
  readonly certPem: string;
  readonly until: number;
}

/** Has a signing authority, or a next one, or both. */
export interface AuthorityState {
  /** Missing while API servers still learn the first authority. */
  readonly signing?: Authority;
  /** Already in the bundle. Signs as soon as every API server had the time to learn it. */
  readonly next?: Authority;
  readonly retired: readonly RetiredAuthority[];
}

/** More than a state needs, and little enough to parse safely. */
const maxCharacters = 64 * 1024;
export const maxRetired = 10;

/** Encodes the state as the value of one key of a Secret, so that no write stores a part of it. */
export function encodeState({ signing, next, retired }: AuthorityState): string {
  return JSON.stringify({
    ...(signing === undefined ? {} : { signing: written(signing) }),
    ...(next === undefined ? {} : { next: written(next) }),
    retired: retired.map(({ certPem, until }) => ({
      certificate: certPem,
      until: new Date(until).toISOString(),
    })),
  });
}

/** Returns undefined when any part is invalid. */
export function parseState(text: string): AuthorityState | undefined {
  const value = text.length <= maxCharacters ? parsedJson(text) : undefined;
  if (!isJsonObject(value)) return undefined;
  const [signing, next] = ['signing', 'next'].map((name) => optionalAuthority(ownMember(value, name)));
  const list = ownMember(value, 'retired');
  if (!Array.isArray(list) || list.length > maxRetired) return undefined;
  const retired = list.map(retiredAuthority).filter((each) => each !== 'broken');
  if (signing === 'broken' || next === 'broken' || retired.length < list.length) return undefined;
  if (signing === undefined && next === undefined) return undefined;
  return withKeys(signing, next, retired);
}

export function withKeys(
  signing: Authority | undefined,
  next: Authority | undefined,
  retired: readonly RetiredAuthority[],
): AuthorityState {
  return { ...(signing === undefined ? {} : { signing }), ...(next === undefined ? {} : { next }), retired };
}

/** Returns PEM that is the same for the same set of authorities, whatever the role of each. */
export function bundleOf(state: AuthorityState): string {
  const all = [state.signing, state.next, ...state.retired].map((each) => each?.certPem);
  return [...new Set(all)]
    .filter((each) => each !== undefined)
    .toSorted()
    .join('');
}

export function authorityOf({ certPem, keyPem }: PemPair): Authority {
  const { validFromDate, validToDate } = new X509Certificate(certPem);
  return {
    certPem,
    keyPem,
    createdAt: validFromDate.getTime() + backdatingMs,
    notAfter: validToDate.getTime(),
  };
}

function written({ certPem, keyPem }: Authority): object {
  return { certificate: certPem, key: keyPem };
}

function optionalAuthority(value: unknown): Authority | 'broken' | undefined {
  if (value === undefined) return undefined;
  const certPem = certificateIn(value);
  const keyPem = ownMember(value, 'key');
  if (certPem === undefined || typeof keyPem !== 'string') return 'broken';
  const key = parsePrivateKey(keyPem);
  if (key === undefined || !new X509Certificate(certPem).checkPrivateKey(key)) return 'broken';
  return authorityOf({ certPem, keyPem });
}

function retiredAuthority(value: unknown): RetiredAuthority | 'broken' {
  const certPem = certificateIn(value);
  const until = Date.parse(String(ownMember(value, 'until')));
  if (certPem === undefined || Number.isNaN(until)) return 'broken';
  // Limits what a stranger may write: certificates cannot be checked after their authority expired.
  return { certPem, until: Math.min(until, new X509Certificate(certPem).validToDate.getTime()) };
}

/** Exactly one certificate and no other text, because it goes into the bundle unchanged. */
const oneCertificate = /^-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+\n-----END CERTIFICATE-----\n$/;

function certificateIn(value: unknown): string | undefined {
  const pem = ownMember(value, 'certificate');
  if (typeof pem !== 'string' || !oneCertificate.test(pem)) return undefined;
  try {
    return new X509Certificate(pem).ca ? pem : undefined;
  } catch {
    // The message of the library may contain parts of the text.
    return undefined;
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
