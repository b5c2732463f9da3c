// Describes one request for objects: the user, the verb, the kind, the object and the options.
import type { Resource, ServedSubresource } from './resource.ts';
import type { User } from './access/users.ts';

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
  /** Parsed but not validated; undefined without a body. */
  readonly body: unknown;
  /** Set for the verb `patch`. */
  readonly patchType: PatchType | undefined;
  /**
   * The field manager when the request names none: `kubectl` from its User-Agent.
   * https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers
   */
  readonly agent: string;
  /** Shows a text to the user, in a Warning header. */
  readonly warn: (text: string) => void;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}
