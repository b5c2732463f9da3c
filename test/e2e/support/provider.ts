// A policy or a share that provides one object in every namespace it matches. Tests use both in the same way.
import { policy, roleBinding, share, type Ref, type WrittenObject } from './objects.ts';

export interface Provider {
  readonly ref: Ref;
  /** Returns the object that it provides in a namespace. */
  readonly objectIn: (namespace: string) => Ref;
  /** Returns the provider as a written object, with maxDeletions 2 unless a field sets another number. */
  readonly write: (
    match: object,
    more?: object,
    annotations?: Readonly<Record<string, string>>,
  ) => WrittenObject;
}

/** The name of the Secret that such shares copy. The test must create it. */
export const providerSource = 'ho-provider-source';

export function provider(kind: 'NamespacePolicy' | 'SecretShare', name: string): Provider {
  const maxDeletions = 2;
  const ref = { kind, name };
  if (kind === 'NamespacePolicy') {
    const contents = { roleBindings: [roleBinding(name, 'readers')] };
    return {
      ref,
      objectIn: (namespace) => ({ kind: 'RoleBinding', name, namespace }),
      write: (match, more, annotations) =>
        policy(name, { match, contents, maxDeletions, ...more }, annotations),
    };
  }
  const source = { namespace: 'reeve-shared', name: providerSource };
  return {
    ref,
    objectIn: (namespace) => ({ kind: 'Secret', name, namespace }),
    write: (targets, more, annotations) =>
      share(name, { source, targets, target: { name }, maxDeletions, ...more }, annotations),
  };
}
