// Describes a kind that the sandbox serves.
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { StatusCause } from './api-error.ts';
import type { User } from './access/users.ts';

export type ServedSubresource = 'status' | 'finalize' | 'token';

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly format?: 'name';
  readonly description: string;
  /** Columns above 0 appear only with `-o wide`. */
  readonly priority: number;
  /** Returns the cell of an object. The table shows the age of a date. */
  readonly cell: (object: KubeObject) => string | number | boolean;
}

/** The rules of a kind for its objects. Throws an ApiError only for what the sandbox does not serve. */
interface ObjectRules {
  /**
   * Returns the object to store: with the fields that the server sets, without the fields that a client may not set.
   * `stored` is undefined for a create. A write of a subresource holds only its part already.
   */
  prepare(submitted: KubeObject, stored: KubeObject | undefined, now: Date): KubeObject;
  /** Returns all problems of the prepared object. */
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
  /** The columns after the name. The age is one of them. */
  readonly columns: readonly Column[];
  readonly rules: ObjectRules;
  /** Undefined when the fields of the kind are not known. */
  readonly schema?: ObjectSchema;
  /** A custom kind has no strategic merge patch, and its schema decides which fields are dropped. */
  readonly isCustom: boolean;
  /**
   * The fields that identify the items of a list, by the path of the list with `*` for an item: `spec/ports` →
   * [port].
   * An empty list means a set. A list that is not here is replaced as a whole.
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

/** The kinds that are served now: the built-in ones, and those whose definitions are stored. */
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

// Describes one request for objects: the user, the verb, the kind, the object and the options.

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface ObjectRequest {
  readonly user: User;
  readonly verb: Verb;
  readonly resource: Resource;
  readonly subresource: ServedSubresource | undefined;
  /** Undefined for cluster-scoped kinds, and for lists over all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined when the path has no name, as for a create or a list. */
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  /** The parsed body, not yet validated. Undefined without a body. */
  readonly body: unknown;
  /** Set for the verb `patch`. */
  readonly patchType: PatchType | undefined;
  /**
   * The field manager if the request names none: `kubectl`, from its User-Agent.
   * https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers
   */
  readonly agent: string;
  /** Shows a text to the user, in a Warning header. */
  readonly warn: (text: string) => void;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}
