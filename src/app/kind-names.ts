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
