// Under which name the API server keeps the objects of each kind, for whoever cannot wait for its answer.
import { type Discovery, guessedPlural } from '../kube/discovery.ts';
import type { ObjectType } from '../policy/compile/object-key.ts';

/** The guess of Kubernetes until the API server has told; asked from the beginning for the kinds that are allowed. */
export function namesOfKinds(
  allowed: readonly ObjectType[],
  discovery: Discovery,
): (type: ObjectType) => string {
  const told = new Map<string, string>();
  const nameOf = ({ apiVersion, kind }: ObjectType): string => {
    const key = `${apiVersion}/${kind}`;
    // Asked every time, because the answer may become another one; it is kept for a while, and costs nothing then.
    discovery.find(apiVersion, kind).then(
      (served) => (served === undefined ? told.delete(key) : told.set(key, served.plural)),
      // An API server that does not answer has not taken anything back.
      () => undefined,
    );
    return told.get(key) ?? guessedPlural(kind);
  };
  for (const type of allowed) nameOf(type);
  return nameOf;
}

/** `v1/ResourceQuota`, `networking.k8s.io/v1/NetworkPolicy` */
export function objectTypeOf(text: string): ObjectType {
  const slash = text.lastIndexOf('/');
  return { apiVersion: text.slice(0, slash), kind: text.slice(slash + 1) };
}

/** The names of Secrets that shares may make; where none is given, undefined: any. */
export function namesOrAny(names: readonly string[]): readonly string[] | undefined {
  return names.length === 0 ? undefined : names;
}
