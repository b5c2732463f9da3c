// The keys that the API server requires in Secrets of the types that Kubernetes defines.
import type { SchemaRule } from '../../schema/schema.ts';

interface TypedKeys {
  readonly type: string;
  readonly keys: readonly string[];
  /** True if one of the keys is enough. */
  readonly isOneEnough?: boolean;
}

/** https://kubernetes.io/docs/concepts/configuration/secret/#secret-types */
const typedKeys: readonly TypedKeys[] = [
  { type: 'kubernetes.io/tls', keys: ['tls.crt', 'tls.key'] },
  { type: 'kubernetes.io/dockerconfigjson', keys: ['.dockerconfigjson'] },
  { type: 'kubernetes.io/dockercfg', keys: ['.dockercfg'] },
  { type: 'kubernetes.io/ssh-auth', keys: ['ssh-privatekey'] },
  { type: 'kubernetes.io/basic-auth', keys: ['username', 'password'], isOneEnough: true },
];

/** Returns the keys that a Secret of the type lacks: `tls.crt and tls.key`, `username or password`. */
export function missingKeys(type: string, keys: readonly string[]): string | undefined {
  const typed = typedKeys.find((each) => each.type === type);
  return typed === undefined ? undefined : missingOf(typed, keys);
}

function missingOf(
  { keys: required, isOneEnough = false }: TypedKeys,
  keys: readonly string[],
): string | undefined {
  const missing = required.filter((key) => !keys.includes(key));
  if (isOneEnough) return missing.length < required.length ? undefined : missing.join(' or ');
  return missing.length === 0 ? undefined : missing.join(' and ');
}

interface TypeAndKeys {
  readonly type?: string | undefined;
  readonly keys?: readonly { readonly to: string }[] | undefined;
}

/** One rule for each type, so that a refusal names its keys. Without `keys`, the keys of the source decide. */
export const keysOfType: readonly SchemaRule<TypeAndKeys>[] = typedKeys.map((typed) => {
  const { type, keys, isOneEnough = false } = typed;
  const has = keys.map((key) => `self.keys.exists(each, each.to == '${key}')`);
  return {
    accepted: `${keys.join(isOneEnough ? ' or ' : ' and ')} among its keys if its type is ${type}`,
    must: 'have',
    cel: `!has(self.keys) || self.type != '${type}' || (${has.join(isOneEnough ? ' || ' : ' && ')})`,
    offender: (target) => {
      if (target.type !== type || target.keys === undefined) return undefined;
      return missingOf(
        typed,
        target.keys.map(({ to }) => to),
      ) === undefined
        ? undefined
        : ['keys'];
    },
  };
});
