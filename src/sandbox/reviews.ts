// Kinds that are only created, and never stored: whoever creates one is answered at once.
import type { JsonObject } from '../api/json.ts';
import type { User } from './user.ts';

export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly isNamespaced: boolean;
  /** Whether the user may ask was judged before (verb create). The answer is the whole review; throws an ApiError. */
  answer(user: User, body: JsonObject, namespace: string | undefined): JsonObject;
}
