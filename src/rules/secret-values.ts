// Reads the values of a Secret as the API server will store them: `stringData` over `data`, base64 decoded.
// https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data
import { createHash } from 'node:crypto';
import type { KubeObject } from '../base/metadata.ts';
import { isJsonObject, ownMember } from '../base/json.ts';
import type { Work } from '../cel/expression.ts';
import { clipped } from '../base/text.ts';
import { stringField } from './fields.ts';
import type { Comparison } from './rule.ts';

export type SecretValue =
  | { readonly kind: 'absent' }
  | { readonly kind: 'undecodable'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Buffer };

export function secretType(secret: KubeObject): string {
  // The type of a Secret without one: https://kubernetes.io/docs/concepts/configuration/secret/#opaque-secrets
  return stringField(secret, 'type') || 'Opaque';
}

/** Decodes and later parses or hashes the value, which costs a unit for 32 characters. */
export function secretValue(secret: KubeObject, key: string, work: Work): SecretValue {
  const plain = ownString(secret['stringData'], key);
  const encoded = ownString(secret['data'], key);
  work.spend(((plain ?? encoded)?.length ?? 0) >> 5);
  if (plain !== undefined) return { kind: 'bytes', bytes: Buffer.from(plain, 'utf8') };
  if (encoded === undefined) return { kind: 'absent' };
  const bytes = decodedBase64(encoded);
  return bytes === undefined ? { kind: 'undecodable', text: encoded } : { kind: 'bytes', bytes };
}

/** Returns the total size of the decoded values, which the API server limits to 1 MiB. */
export function secretSize(secret: KubeObject): number {
  const plain = stringEntries(secret['stringData']);
  const overridden = new Set(plain.map(([key]) => key));
  const encoded = stringEntries(secret['data']).filter(([key]) => !overridden.has(key));
  return (
    plain.reduce((sum, [, value]) => sum + Buffer.byteLength(value, 'utf8'), 0) +
    encoded.reduce((sum, [, value]) => sum + Buffer.byteLength(value, 'base64'), 0)
  );
}

/** Lists the names of keys, because only values can be secret. */
export function comparedNames(secret: KubeObject, accepted: string): Comparison {
  const names = new Set(
    [secret['data'], secret['stringData']].flatMap((map) => (isJsonObject(map) ? Object.keys(map) : [])),
  );
  const found = names.size === 0 ? 'no key' : clipped([...names].sort().join(', '), maxNames);
  return { path: 'data', found, accepted };
}

const maxNames = 300;

/** Returns a hash that distinguishes values without storing or showing them. */
export function fingerprintOf(...values: readonly SecretValue[]): string {
  const hash = createHash('sha256');
  for (const value of values) {
    hash.update(`${value.kind}:`);
    if (value.kind === 'bytes') hash.update(value.bytes);
    if (value.kind === 'undecodable') hash.update(value.text);
  }
  return hash.digest('hex');
}

/**
 * Decodes as Go does: line breaks are skipped, and the rest is the padded standard alphabet. Returns undefined for other text.
 * https://pkg.go.dev/encoding/base64#Encoding.Decode
 */
function decodedBase64(text: string): Buffer | undefined {
  const hasBreaks = text.includes('\n') || text.includes('\r');
  const digits = hasBreaks ? text.replaceAll(/[\r\n]/g, '') : text;
  const bytes = Buffer.from(digits, 'base64');
  // Text is base64 if Node encodes the bytes to the same text. The expression for padding with other bits took 9 % of the time
  // of an answer about a TLS pair.
  const isBase64 = bytes.toString('base64') === digits || isPadded(digits);
  return isBase64 ? bytes : undefined;
}

function isPadded(digits: string): boolean {
  return digits.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(digits);
}

function ownString(map: unknown, key: string): string | undefined {
  const value = ownMember(map, key);
  return typeof value === 'string' ? value : undefined;
}

function stringEntries(map: unknown): readonly (readonly [string, string])[] {
  if (!isJsonObject(map)) return [];
  return Object.entries(map).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  );
}
