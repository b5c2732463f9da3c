// Says which policy sets a default: of several that match, the first by name.
import type { CompiledPolicy } from './compiled-policy.ts';
import { isExcepted } from '../terms/exceptions.ts';
import type { OwnsDefault } from '../rules/rule.ts';
import type { DefaultKey } from '../rules/default-keys.ts';

interface Defaulting {
  /** The rule that exceptions name. */
  readonly rule: 'namespaces.defaults' | 'secrets.defaults';
  readonly keysOf: (policy: CompiledPolicy) => readonly DefaultKey[];
}

const onNamespaces: Defaulting = {
  rule: 'namespaces.defaults',
  keysOf: (policy) => policy.namespaceDefaults,
};
const onSecrets: Defaulting = { rule: 'secrets.defaults', keysOf: (policy) => policy.secretDefaults };

/** For matching policies in the order of their names. */
export function defaultOwners(
  kind: 'namespaces' | 'secrets',
  matching: readonly CompiledPolicy[],
  namespace: string,
  now: Date,
): (policy: CompiledPolicy) => OwnsDefault {
  const { rule, keysOf } = kind === 'namespaces' ? onNamespaces : onSecrets;
  const owners = new Map<string, CompiledPolicy>();
  for (const policy of matching) {
    const keys = keysOf(policy);
    if (keys.length === 0 || isExcepted(policy.exceptions, rule, namespace, now)) continue;
    for (const { field, key } of keys) {
      const id = `${field} ${key}`;
      if (!owners.has(id)) owners.set(id, policy);
    }
  }
  return (policy) => (field, key) => owners.get(`${field} ${key}`) === policy;
}
