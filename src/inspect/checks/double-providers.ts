// Finds objects that two providers want in one namespace, with different content.
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { desired, isManaged } from '../../policy/desired/desired.ts';
import type { Claim } from '../../policy/desired/provider.ts';
import { nameOf } from '../../base/metadata.ts';
import { differingFields } from '../../policy/plan/same-object.ts';
import { shownProvider } from '../../policy/terms/provider-id.ts';
import { counted, listed } from '../../base/text.ts';
import type { LocatedDefinition } from '../../state/definitions.ts';
import { contentPathOf, type LocatedFinding } from './content-path.ts';

interface Clash {
  readonly winner: Claim;
  readonly loser: Claim;
  readonly fields: readonly string[];
  readonly namespaces: string[];
}

/** One for each object, however many namespaces it is wanted in. Named at the provider that does not get its way. */
export function doubleProviders(
  providers: readonly LocatedDefinition[],
  snapshot: ClusterSnapshot,
  now: Date,
): readonly LocatedFinding[] {
  const inFiles = new Map(providers.map((provider) => [provider.id, provider]));
  return [...clashesIn(snapshot, now).values()].flatMap(({ winner, loser, fields, namespaces }) => {
    const provider = inFiles.get(loser.provider) ?? inFiles.get(winner.provider);
    if (provider === undefined) return [];
    const other = provider.id === loser.provider ? winner : loser;
    const where = `${counted(namespaces.length, 'namespace')} (${listed(namespaces)})`;
    const message =
      `${shownProvider(other.provider)} also provides ${loser.type.kind} ${loser.name} in ${where}, ` +
      `and differs in ${listed(fields)}; ${shownProvider(winner.provider)} wins`;
    return [{ provider, path: contentPathOf(provider, loser), message }];
  });
}

function clashesIn(snapshot: ClusterSnapshot, now: Date): ReadonlyMap<string, Clash> {
  const clashes = new Map<string, Clash>();
  for (const namespaceObject of snapshot.namespaces()) {
    if (!isManaged(namespaceObject, snapshot)) continue;
    const input = { namespaceObject, snapshot, now, copyStateOf: () => ({ kind: 'unread' }) as const };
    for (const [key, claims] of desired(namespaceObject, snapshot, now).claims)
      for (const found of differing(claims, input)) {
        const id = `${key} ${found.winner.provider} ${found.loser.provider}`;
        const clash = clashes.get(id) ?? { ...found, namespaces: [] };
        clash.namespaces.push(nameOf(namespaceObject));
        clashes.set(id, clash);
      }
  }
  return clashes;
}

function differing(
  [winner, ...losers]: readonly Claim[],
  input: Parameters<typeof differingFields>[2],
): readonly Omit<Clash, 'namespaces'>[] {
  if (winner === undefined) return [];
  return losers
    .map((loser) => ({ winner, loser, fields: differingFields(winner, loser, input) }))
    .filter(({ fields }) => fields.length > 0);
}
