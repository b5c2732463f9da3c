// Reads what settings say of the objects that may be provided.
import type { ObjectType } from '../policy/compile/object-key.ts';

/** `v1/ResourceQuota`, `networking.k8s.io/v1/NetworkPolicy` */
export function objectTypeOf(text: string): ObjectType {
  const slash = text.lastIndexOf('/');
  return { apiVersion: text.slice(0, slash), kind: text.slice(slash + 1) };
}

/** The names of Secrets that shares may make; where none is given, undefined: any. */
export function namesOrAny(names: readonly string[]): readonly string[] | undefined {
  return names.length === 0 ? undefined : names;
}
