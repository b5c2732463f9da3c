// Finds contents that a policy of the namespace would refuse, so that the reconciler cannot create them.
import { nameOf } from '../../base/metadata.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { desired, isManaged, type Claim } from '../../policy/desired/desired.ts';
import { differingFields } from '../../policy/plan/desired-object.ts';
import { counted, listed, clipped } from '../../base/text.ts';
import type { LocatedDefinition } from '../../state/definitions.ts';
import { shownProvider } from '../../policy/terms/provider-id.ts';
import type { Path } from '../../base/problem.ts';
import { nearest } from '../../base/nearest.ts';
import { userFacingRoles, type MisspelledRole } from '../../policy/authors/no-effect.ts';
import { type ProviderDefinition, policyIn } from '../../policy/compile/load-provider.ts';
import { clusterRoleType } from '../input/access.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { providedBy, type Known } from '../input/provided-objects.ts';

interface Refused {
  readonly claim: Claim;
  readonly refusal: string;
  readonly namespaces: string[];
}

/** Returns one finding for each content and reason. Copies of Secrets are left out, because their content may not be known. */
export function refusedContents(
  providers: readonly LocatedDefinition[],
  known: Known,
  now: Date,
): readonly LocatedFinding[] {
  const inFiles = new Map(providers.map((provider) => [provider.id, provider]));
  return [...refusedIn(known, now).values()].flatMap(({ claim, refusal, namespaces }) => {
    const provider = inFiles.get(claim.provider);
    if (provider === undefined) return [];
    const where = `${counted(namespaces.length, 'namespace')} (${listed(namespaces)})`;
    const message = `${claim.type.kind} ${claim.name} is refused in ${where}: ${refusal}`;
    return [{ provider, path: contentPathOf(provider, claim), message }];
  });
}

function refusedIn(known: Known, now: Date): ReadonlyMap<string, Refused> {
  const all = new Map<string, Refused>();
  for (const { namespaceObject, key, claims } of wantedObjects(known.snapshot, now)) {
    const [claim] = claims;
    if (claim === undefined || claim.content.kind === 'copy') continue;
    const namespace = nameOf(namespaceObject);
    const refusal = providedBy(claim, namespace, known, now);
    if (typeof refusal !== 'string') continue;
    const id = `${key} ${claim.provider} ${refusal}`;
    const found = all.get(id) ?? { claim, refusal, namespaces: [] };
    found.namespaces.push(namespace);
    all.set(id, found);
  }
  return all;
}

/** Returns each object that policies and shares want in a namespace, with all claims on it. */
function* wantedObjects(snapshot: ClusterSnapshot, now: Date) {
  for (const namespaceObject of snapshot.namespaces()) {
    if (!isManaged(namespaceObject, snapshot)) continue;
    for (const [key, claims] of desired(namespaceObject, snapshot, now).claims)
      yield { namespaceObject, key, claims };
  }
}

// Finds objects that two providers want in one namespace, with different content.

interface Clash {
  readonly winner: Claim;
  readonly loser: Claim;
  readonly fields: readonly string[];
  readonly namespaces: string[];
}

/** Returns one finding for each object, also if several namespaces want it. It stands at the provider that loses. */
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
  for (const { namespaceObject, key, claims } of wantedObjects(snapshot, now)) {
    const input = { namespaceObject, snapshot, now, copyStateOf: () => ({ kind: 'unread' }) as const };
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

// Finds the field of a provider that brings an object of a namespace.

interface LocatedFinding {
  readonly provider: LocatedDefinition;
  readonly path: Path;
  readonly message: string;
}

function contentPathOf({ definition }: LocatedDefinition, { type, name }: Claim): Path {
  const policy = policyIn(definition);
  if (policy === undefined) return ['spec', 'target'];
  if (policy.intents !== undefined) return ['spec', 'intents'];
  const content = policy.compiled.contents.find(
    (each) => each.contentKind.ownership === 'object' && each.type.kind === type.kind && each.name === name,
  );
  return content?.path ?? ['spec', 'contents'];
}

// Compares the ClusterRoles that policies bind with those of the state.

/** Returns the roles of the state and those that every cluster has. Returns undefined if the state has none. */
export function knownRoles(state: ClusterState): ReadonlySet<string> | undefined {
  const roles = state.objects(clusterRoleType);
  return roles.length === 0 ? undefined : new Set([...userFacingRoles, ...roles.map(nameOf)]);
}

export function unknownRoles(
  definition: ProviderDefinition,
  known: ReadonlySet<string>,
): readonly MisspelledRole[] {
  const names = policyIn(definition)?.compiled.roleNames ?? [];
  return [...new Set(names)]
    .filter((name) => !known.has(name))
    .map((name) => {
      const near = nearest(name, [...known], 2);
      const meant = near === undefined ? '' : ` (did you mean ${clipped(near)}?)`;
      return { name, message: `there is no ClusterRole ${clipped(name)}${meant}` };
    });
}
