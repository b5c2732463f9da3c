// Reads the kinds that settings name.
import type { ObjectType } from '../policy/contents/compile-contents.ts';

/** `v1/ResourceQuota`, `networking.k8s.io/v1/NetworkPolicy` */
export function objectTypeOf(text: string): ObjectType {
  const slash = text.lastIndexOf('/');
  return { apiVersion: text.slice(0, slash), kind: text.slice(slash + 1) };
}
