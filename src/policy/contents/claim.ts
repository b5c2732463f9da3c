// That an owner wants an object in a namespace: which one, and what it holds.
import type { JsonObject } from '../../api/json.ts';
import type { CompiledShare } from '../compiled-share.ts';
import type { OwnerId } from '../owner.ts';
import type { ObjectType } from './compile-contents.ts';
import type { ObjectKey } from './object-key.ts';

/** What a policy or share has for a namespace. */
export interface ProvidedObject {
  readonly type: ObjectType;
  readonly name: string;
  readonly content: ClaimContent;
  readonly expiresAt?: number;
}

/** That an owner wants an object in the namespace. */
export interface Claim {
  readonly owner: OwnerId;
  readonly key: ObjectKey;
  readonly type: ObjectType;
  readonly name: string;
  readonly content: ClaimContent;
}

export type ClaimContent =
  | { readonly kind: 'object'; readonly body: JsonObject }
  | { readonly kind: 'copy'; readonly share: CompiledShare };
