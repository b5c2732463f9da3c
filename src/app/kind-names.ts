// Knows the resource name of each kind without waiting for the API server.
import { guessedPlural } from '../base/plural.ts';
import type { Discovery } from '../kube/object-writer.ts';
import type { ObjectType } from '../policy/terms/object-key.ts';

/** Returns a guess until the API server has answered. Asks at once for the allowed kinds. */
export function namesOfKinds(
  allowed: readonly ObjectType[],
  discovery: Pick<Discovery, 'find'>,
): (type: ObjectType) => string {
  const told = new Map<string, string>();
  const nameOf = ({ apiVersion, kind }: ObjectType): string => {
    const key = `${apiVersion}/${kind}`;
    // Each call asks again, because the answer may change. Discovery caches it, so this is cheap.
    discovery.find(apiVersion, kind).then(
      (served) => (served === undefined ? told.delete(key) : told.set(key, served.plural)),
      // Without an answer the last one stays valid.
      () => undefined,
    );
    return told.get(key) ?? guessedPlural(kind);
  };
  for (const type of allowed) nameOf(type);
  return nameOf;
}

/** The names of Secrets that shares may create; undefined allows every name. */
export function namesOrAny(names: readonly string[]): readonly string[] | undefined {
  return names.length === 0 ? undefined : names;
}
