// One request for objects, as far as it has been understood: who asks for what of which kind.
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
  /** Undefined for what the path does not name: a create, a list. */
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  /** Parsed, and nothing more; undefined where there is none. */
  readonly body: unknown;
  /** Set for the verb `patch`. */
  readonly patchType: PatchType | undefined;
  /** `kubectl` from the User-Agent, for writes that name none: https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers */
  readonly agent: string;
  /** Shown to the person who asked, as a Warning header. */
  readonly warn: (text: string) => void;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}
