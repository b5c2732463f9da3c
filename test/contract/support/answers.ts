// Describes answers of an API server as loosely as tests read them. A missing part fails the test that reads it.
import type { IncomingMessage } from 'node:http';

export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFields[];
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly [field: string]: unknown;
}

export interface ManagedFields {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: string;
  readonly fieldsV1: object;
  readonly subresource?: string;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

/** An object, a list, a Status or a Table. */
export interface ApiObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Metadata;
  readonly items: readonly ApiObject[];
  readonly status: unknown;
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details: { readonly causes?: readonly Cause[]; readonly [field: string]: unknown };
  readonly columnDefinitions: readonly Column[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: ApiObject }[];
  readonly data?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** An answer whose content is still to come. */
export interface Opened {
  readonly response: IncomingMessage;
  readonly close: () => void;
}

/** Returns the fields of a refusal in a fixed order. */
export function causeFields({ details }: ApiObject): readonly string[] {
  return (details.causes ?? []).map(({ field = '' }) => field).sort();
}
