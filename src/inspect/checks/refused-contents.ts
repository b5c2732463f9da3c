// Finds contents that a policy of the namespace would refuse, so that the reconciler cannot create them.
import { nameOf } from '../../base/metadata.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { desired, isManaged } from '../../policy/desired/desired.ts';
import type { Claim } from '../../policy/desired/provider.ts';
import { desiredObject, refusalOf } from '../../policy/plan/desired-object.ts';
import { counted, listed } from '../../base/text.ts';
import type { LocatedDefinition } from '../../state/definitions.ts';
import { contentPathOf, type LocatedFinding } from './content-path.ts';

interface Refused {
  readonly claim: Claim;
  readonly refusal: string;
  readonly namespaces: string[];
}

/** One for each content and reason. Copies of Secrets are left out, because their content may not be known. */
export function refusedContents(
  providers: readonly LocatedDefinition[],
  snapshot: ClusterSnapshot,
  now: Date,
): readonly LocatedFinding[] {
  const inFiles = new Map(providers.map((provider) => [provider.id, provider]));
  return [...refusedIn(snapshot, now).values()].flatMap(({ claim, refusal, namespaces }) => {
    const provider = inFiles.get(claim.provider);
    if (provider === undefined) return [];
    const where = `${counted(namespaces.length, 'namespace')} (${listed(namespaces)})`;
    const message = `${claim.type.kind} ${claim.name} is refused in ${where}: ${refusal}`;
    return [{ provider, path: contentPathOf(provider, claim), message }];
  });
}

function refusedIn(snapshot: ClusterSnapshot, now: Date): ReadonlyMap<string, Refused> {
  const all = new Map<string, Refused>();
  for (const namespaceObject of snapshot.namespaces()) {
    if (!isManaged(namespaceObject, snapshot)) continue;
    const namespace = nameOf(namespaceObject);
    for (const [key, [claim]] of desired(namespaceObject, snapshot, now).claims) {
      if (claim === undefined || claim.content.kind === 'copy') continue;
      const object = desiredObject(claim, undefined, namespace, snapshot, now);
      const refusal = refusalOf(claim, object, undefined, snapshot, now);
      if (refusal === undefined) continue;
      const id = `${key} ${claim.provider} ${refusal}`;
      const found = all.get(id) ?? { claim, refusal, namespaces: [] };
      found.namespaces.push(namespace);
      all.set(id, found);
    }
  }
  return all;
}
