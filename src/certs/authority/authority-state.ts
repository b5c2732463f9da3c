// What all replicas know of the authorities that they share: one that signs, perhaps the next one, and those still trusted.
import { X509Certificate } from 'node:crypto';
import { isJsonObject, ownMember } from '../../base/json.ts';
import { backdatingMs, type PemPair } from '../issue/issue.ts';
import { parsePrivateKey } from '../issue/keys.ts';

/** One that has its key. Times are in milliseconds since 1970. */
export interface Authority extends PemPair {
  readonly createdAt: number;
  readonly notAfter: number;
}

/** Its key is gone; it is trusted until the last certificate that it can have signed has expired. */
export interface RetiredAuthority {
  readonly certPem: string;
  readonly until: number;
}

/** There is a signing authority, or a next one, or both. */
export interface AuthorityState {
  /** Left out while the first to trust is not yet known to all API servers. */
  readonly signing?: Authority;
  /** In the bundle already, and signs as soon as every API server has had the time to learn of it. */
  readonly next?: Authority;
  readonly retired: readonly RetiredAuthority[];
}

/** More than any one of them needs, and little enough to parse whatever somebody has put there. */
const mostCharacters = 64 * 1024;
export const mostRetired = 10;

/** As the value of one key of a Secret, so that no write of it can be half of one. */
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

/** Undefined when any part of it is not as it was written. */
export function parseState(text: string): AuthorityState | undefined {
  const value = text.length <= mostCharacters ? parsedJson(text) : undefined;
  if (!isJsonObject(value)) return undefined;
  const [signing, next] = ['signing', 'next'].map((name) => optionalAuthority(ownMember(value, name)));
  const list = ownMember(value, 'retired');
  if (!Array.isArray(list) || list.length > mostRetired) return undefined;
  const retired = list.map(retiredAuthority).filter((each) => each !== 'broken');
  if (signing === 'broken' || next === 'broken' || retired.length < list.length) return undefined;
  if (signing === undefined && next === undefined) return undefined;
  return withKeys(signing, next, retired);
}

/** Without those that are not there. */
export function withKeys(
  signing: Authority | undefined,
  next: Authority | undefined,
  retired: readonly RetiredAuthority[],
): AuthorityState {
  return { ...(signing === undefined ? {} : { signing }), ...(next === undefined ? {} : { next }), retired };
}

/** In PEM, the same for the same authorities, whatever became of each. */
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
  // Whatever somebody has written there: what it signed can be checked for no longer than it lasts itself.
  return { certPem, until: Math.min(until, new X509Certificate(certPem).validToDate.getTime()) };
}

/** One alone and nothing around it, because it goes into the bundle as it is. */
const oneCertificate = /^-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+\n-----END CERTIFICATE-----\n$/;

function certificateIn(value: unknown): string | undefined {
  const pem = ownMember(value, 'certificate');
  if (typeof pem !== 'string' || !oneCertificate.test(pem)) return undefined;
  try {
    return new X509Certificate(pem).ca ? pem : undefined;
  } catch {
    // The library's words may hold parts of it.
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
