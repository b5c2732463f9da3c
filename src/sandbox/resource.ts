// What the sandbox knows of a kind that it serves.
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import type { ObjectSchema } from '../api/schema/schema.ts';
import type { StatusCause } from './api-error.ts';

export type ServedSubresource = 'status' | 'finalize' | 'token';

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly format?: 'name';
  readonly description: string;
  /** Columns above 0 are shown with `-o wide` only. */
  readonly priority: number;
  /** The cell of an object; of a date its time, which the table turns into an age. */
  readonly cell: (object: KubeObject) => string | number | boolean;
}

/** What a kind asks of its objects beyond the metadata. Only what is not served is thrown, as an ApiError. */
interface ObjectRules {
  /**
   * The object to store for the submitted one: with what the server sets itself, without what a client does not set here.
   * `stored` is undefined for a create. A write of a subresource has taken over only its part already.
   */
  prepare(submitted: KubeObject, stored: KubeObject | undefined, now: Date): KubeObject;
  /** All that is wrong with the prepared object. */
  problems(object: KubeObject, stored: KubeObject | undefined): readonly StatusCause[];
}

export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly subresources: readonly ServedSubresource[];
  /** After the name, which every table begins with; the age stands here where the kind has one. */
  readonly columns: readonly Column[];
  readonly rules: ObjectRules;
  /** Its fields, their defaults and what each may be; without it, they are not known. */
  readonly schema?: ObjectSchema;
  /** Custom resources keep no strategic merge, and drop unknown fields by their schema. */
  readonly isCustom: boolean;
  /**
   * The fields that identify the items of a list, by the path of the list with `*` for an item: `spec/ports` → [port];
   * an empty list for a set; left out for what is replaced as a whole.
   */
  readonly listKeys: Readonly<Record<string, readonly string[]>>;
}

/** `v1`, `reeve.dev/v1alpha1` */
export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

export function withType(resource: Resource, object: JsonObject): KubeObject {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
}

/** The kinds that are served now: those built in, and those of definitions that are stored. */
export interface Kinds {
  all(): readonly Resource[];
  find(group: string, version: string, plural: string): Resource | undefined;
  ofKind(apiVersion: string, kind: string): Resource | undefined;
}

/** Computes a value once for each object. Kinds and stored objects never change. */
export function memoized<O extends object, T>(compute: (object: O) => T): (object: O) => T {
  const known = new WeakMap<O, { readonly value: T }>();
  return (object) => {
    const found = known.get(object) ?? { value: compute(object) };
    known.set(object, found);
    return found.value;
  };
}
