// That an owner wants an object in a namespace: which one, and what it holds.
import type { JsonObject } from '../../base/json.ts';
import type { CompiledShare } from '../compile/compiled-share.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ObjectType } from '../compile/compile-contents.ts';
import type { ObjectKey } from '../compile/object-key.ts';

/** What a policy or share has for a namespace. */
export interface ProvidedObject {
  readonly type: ObjectType;
  readonly name: string;
  readonly content: ClaimContent;
  readonly expiresAt?: number;
}

/** That an owner wants an object in the namespace. */
export interface Claim {
  readonly owner: ProviderId;
  readonly key: ObjectKey;
  readonly type: ObjectType;
  readonly name: string;
  readonly content: ClaimContent;
}

export type ClaimContent =
  | { readonly kind: 'object'; readonly body: JsonObject }
  | { readonly kind: 'copy'; readonly share: CompiledShare };
