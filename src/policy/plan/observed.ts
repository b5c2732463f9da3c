// A live object as the reconciler remembers it. For a Secret, a hash stands for the payload.
import { createHash } from 'node:crypto';
import { isJsonObject } from '../../base/json.ts';
import {
  type KubeObject,
  annotationsOf,
  isTerminating,
  labelsOf,
  nameOf,
  valueOf,
} from '../../base/metadata.ts';
import { appliedAnnotation, expiresAtAnnotation } from '../../schema/names.ts';
import { ownershipOf, type Ownership } from './ownership.ts';
import {
  isSameObjectType,
  objectKey,
  type ObjectKey,
  type ObjectType,
  roleBindingType,
  secretObjectType,
} from '../terms/object-key.ts';

export interface Observed extends Ownership {
  readonly key: ObjectKey;
  readonly type: ObjectType;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
  readonly appliedHash: string | undefined;
  /** Milliseconds since the epoch. Only expiring RoleBindings have it. */
  readonly expiresAt: number | undefined;
  /** `unread`: not read since it changed. `foreign`: no provider may write it, so its content does not matter. */
  readonly content:
    | { readonly kind: 'object'; readonly object: KubeObject }
    | { readonly kind: 'secret'; readonly facts: SecretFacts; readonly labels: KubeObject['metadata'] }
    | { readonly kind: 'unread' }
    | { readonly kind: 'foreign' };
}

/** The facts that Reeve remembers of a copy. No value of the Secret can be derived from them. */
export interface SecretFacts {
  readonly type: string;
  readonly isImmutable: boolean;
  readonly keys: readonly string[];
  readonly hash: string;
}

/** Observes an object of any kind but Secret. */
export function observeObject(type: ObjectType, object: KubeObject): Observed {
  const identity = identityOf(type, object);
  return { ...identity, content: isOfInterest(identity) ? { kind: 'object', object } : { kind: 'foreign' } };
}

/** Observes a Secret by its metadata alone. */
export function observeSecretMetadata(object: KubeObject): Observed {
  const identity = identityOf(secretObjectType, object);
  return { ...identity, content: { kind: isOfInterest(identity) ? 'unread' : 'foreign' } };
}

/** Observes a whole Secret, and keeps only the hash of its payload. */
export function observeSecret(secret: KubeObject): Observed {
  const identity = identityOf(secretObjectType, secret);
  if (!isOfInterest(identity)) return { ...identity, content: { kind: 'foreign' } };
  return {
    ...identity,
    content: { kind: 'secret', facts: secretFacts(secret), labels: comparedMetadata(secret) },
  };
}

/** `kubectl apply` writes the whole object into this annotation, including the payload. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

function comparedMetadata(secret: KubeObject): KubeObject['metadata'] {
  const { [lastApplied]: _payload, ...annotations } = annotationsOf(secret);
  return { labels: labelsOf(secret), annotations };
}

function identityOf(type: ObjectType, object: KubeObject): Omit<Observed, 'content'> {
  const { uid = '', namespace = '', resourceVersion } = object.metadata;
  const name = nameOf(object);
  return {
    ...ownershipOf(type, object),
    key: objectKey(type, name),
    type,
    namespace,
    name,
    uid,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    isTerminating: isTerminating(object),
    appliedHash: valueOf(annotationsOf(object), appliedAnnotation),
    expiresAt: expiryOf(object),
  };
}

/** True for a RoleBinding with subjects. */
export function grantsAccess({ type, content }: Pick<Observed, 'type' | 'content'>): boolean {
  return (
    isSameObjectType(type, roleBindingType) &&
    content.kind === 'object' &&
    content.object['subjects'] !== undefined
  );
}

function expiryOf(object: KubeObject): number | undefined {
  const time = Date.parse(valueOf(annotationsOf(object), expiresAtAnnotation) ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function isOfInterest({ owner, isOffered, orphanedFrom }: Ownership): boolean {
  return owner !== undefined || isOffered || orphanedFrom !== undefined;
}

export function secretFacts(secret: KubeObject): SecretFacts {
  const data = isJsonObject(secret['data']) ? secret['data'] : {};
  const type = typeof secret['type'] === 'string' ? secret['type'] : 'Opaque';
  const isImmutable = secret['immutable'] === true;
  const keys = Object.keys(data).sort();
  const hash = createHash('sha256');
  hash.update(JSON.stringify([type, isImmutable, keys.map((key) => [key, data[key] ?? ''])]));
  return { type, isImmutable, keys, hash: hash.digest('base64') };
}
