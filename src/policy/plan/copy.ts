// Derives the content of a copy from the source of a share, or the reason why no copy is possible.
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { type KubeObject, annotationsOf, labelsOf, valueOf } from '../../base/metadata.ts';
import type { CompiledShare } from '../compile/compile-policy.ts';
import { parseProviderId } from '../terms/provider-id.ts';
import { managedByLabel, managedByReeve, ownerAnnotation } from '../../schema/names.ts';
import { secretFacts, type SecretFacts } from './observed.ts';
import { uncopiedTypes, missingKeys } from '../../api/secret-share/secret-share.ts';

export interface CopyPayload {
  readonly type: string;
  readonly data: JsonObject;
  readonly isImmutable: boolean;
  readonly facts: SecretFacts;
}

type CopyReason =
  'SourceMissing' | 'SourceNotAllowed' | 'SourceTypeForbidden' | 'SourceUnreadable' | 'KeyMissing';

/** The state of the source of a share. `unread`: the source exists, and its payload must be read first. */
export type CopyState =
  | { readonly kind: 'ready'; readonly payload: CopyPayload }
  | { readonly kind: 'unread' }
  | { readonly kind: 'unavailable'; readonly reason: CopyReason; readonly message: string };

export function copyOf(share: CompiledShare, source: KubeObject): CopyState {
  const type = share.copy.type === '' ? typeOf(source) : share.copy.type;
  const forbidden = [typeOf(source), type].find((each) => uncopiedTypes.includes(each));
  if (forbidden !== undefined)
    return unavailable('SourceTypeForbidden', `Secrets of type ${forbidden} are never copied`);
  if (isManagedCopy(source))
    return unavailable('SourceNotAllowed', 'the source is itself a copy that Reeve manages');
  const data = isJsonObject(source['data']) ? source['data'] : {};
  const missing = share.copy.keys?.find(({ from }) => !Object.hasOwn(data, from));
  if (missing !== undefined) return unavailable('KeyMissing', `the source has no key ${missing.from}`);
  const entries =
    share.copy.keys === undefined
      ? Object.entries(data)
      : share.copy.keys.map(({ from, to }) => [to, data[from]] as const);
  const lacked = missingKeys(
    type,
    entries.map(([key]) => key),
  );
  if (lacked !== undefined)
    return unavailable(
      'KeyMissing',
      `copies of type ${type} need ${lacked}, which the source does not give them`,
    );
  // fromEntries creates own properties, also for `__proto__`, which is a legal key of a Secret.
  const copied = Object.fromEntries(entries.map(([key, value]) => [key, value ?? '']));
  const isImmutable = share.copy.isImmutable;
  const body = { metadata: {}, type, data: copied, ...(isImmutable ? { immutable: true } : {}) };
  return { kind: 'ready', payload: { type, data: copied, isImmutable, facts: secretFacts(body) } };
}

export function unavailable(reason: CopyReason, message: string): CopyState {
  return { kind: 'unavailable', reason, message };
}

function typeOf(secret: KubeObject): string {
  const type = ownMember(secret, 'type');
  return typeof type === 'string' && type !== '' ? type : 'Opaque';
}

function isManagedCopy(secret: KubeObject): boolean {
  return (
    valueOf(labelsOf(secret), managedByLabel) === managedByReeve &&
    parseProviderId(valueOf(annotationsOf(secret), ownerAnnotation)) !== undefined
  );
}
