// Defines the input of every explanation: a state in the planning parts of the reconciler, and the rights of users.
import type { Requester } from '../../rules/rule.ts';
import type { AccessAnswer, Right } from '../../policy/terms/review.ts';
import { type ObjectType, nameOfKey } from '../../base/object-type.ts';
import { compareProviders, providerKindOf, namespaceOfProvider } from '../../policy/terms/provider-id.ts';
import type { LoadedProvider } from '../../state/stored-provider.ts';
import type { StoredAccess } from '../input/access.ts';
import { type PlanningState, namespaceType, shownProblems } from '../input/loaded-state.ts';
import { type KubeObject, isTerminating, nameOf } from '../../base/metadata.ts';
import { nearestWord } from '../../base/nearest.ts';
import { quoted } from '../../base/text.ts';
import { matchOf } from '../../policy/authors/no-effect.ts';
import {
  desiredByProvider,
  providerOf,
  type Claim,
  type Desired,
  type FieldsClaim,
} from '../../policy/desired/desired.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { failingTerm } from '../../policy/terms/match-trace.ts';
import { matchErrorText, matchNamespace, overrideIn, overrideText } from '../../policy/terms/match.ts';
import { rfc3339 } from '../../base/time.ts';
import { policyIn, type ProviderDefinition } from '../../policy/compile/load-provider.ts';
import type { ExplainedProvider, ExplainedTerm, ExplainedObject } from '../output-schemas/explanation.ts';
import type { PlanChange } from '../output-schemas/plan-output.ts';
import { namespaceRows } from '../plan/plan-namespace.ts';
import { plannedObject } from '../plan/step-rows.ts';

type AskedRight = Pick<Right, 'verb' | 'group' | 'resource' | 'name' | 'namespace'>;

export interface LookedAt extends PlanningState {
  readonly access: StoredAccess;
  /** Asks the API server, or reads stored roles if there is no API server. */
  readonly mayDo: (user: Requester, right: AskedRight) => Promise<AccessAnswer>;
  readonly now: Date;
}

/** Names a kind of provider that could not be read. More providers of that kind may exist. */
export function unreadProviders({ state }: LookedAt): string | undefined {
  const unread = state.unread.find(({ kind }) => providerKindOf(kind) !== undefined);
  return unread === undefined ? undefined : `${unread.kind} could not be read: ${unread.reason}`;
}

/** Returns the kinds that the install allows, and the kinds that policies want although the install does not allow them. */
export function providedTypes({ state, cluster }: LookedAt): readonly ObjectType[] {
  const policies = cluster.snapshot().policies.policies;
  return [
    ...(state.install.resourceKinds ?? []),
    ...policies.flatMap(({ contents }) => contents.map(({ type }) => type)),
  ];
}

/** Sorted by kind and name. */
export function sortedProviders({ cluster }: LookedAt): readonly LoadedProvider[] {
  return [...cluster.providers()].toSorted((a, b) => compareProviders(a.state.id, b.state.id));
}

// Says of a provider and a namespace whether the match holds, or which term of it fails.

export type LoadedState = Pick<LookedAt, 'state' | 'cluster'>;
type ExplainedMatch = Pick<ExplainedProvider, 'matches' | 'term' | 'message'>;

export function explainMatch(
  { definition, problems, state }: LoadedProvider,
  namespaceObject: KubeObject,
  { cluster, now }: LookedAt,
): ExplainedMatch {
  if (definition === undefined) {
    const message = `its spec does not load, so all its objects stay as they are: ${shownProblems(problems)}`;
    return { matches: 'error', message };
  }
  const name = nameOf(namespaceObject);
  // For such a namespace, the engine evaluates no match.
  if (cluster.snapshot().policies.isExcluded(name)) {
    const accepted = 'a namespace that is neither of Kubernetes, nor of Reeve, nor excluded by the install';
    return { matches: 'no', term: { path: 'metadata.name', found: quoted(name), accepted } };
  }
  const { match } = definition.compiled;
  const result = matchNamespace(match, namespaceObject);
  if (result.kind === 'error') return { matches: 'error', message: matchErrorText(result) };
  if (result.kind === 'no') {
    const term = failingTerm(matchOf(definition), match, namespaceObject);
    return { matches: 'no', ...(term === undefined ? {} : { term }) };
  }
  const frozen = desiredByProvider(providerOf(definition), namespaceObject, now, unlimitedBudget).frozen;
  const unprovided = state.isDeleting ? 'it is being deleted' : frozen.get(state.id)?.message;
  const why = unprovided ?? actionsText(definition, namespaceObject, now);
  return { matches: 'yes', ...(why === undefined ? {} : { message: why }) };
}

/** Undefined where the policy takes its own actions. */
function actionsText(
  definition: ProviderDefinition,
  namespaceObject: KubeObject,
  now: Date,
): string | undefined {
  const policy = policyIn(definition)?.compiled;
  const override = policy === undefined ? undefined : overrideIn(policy.overrides, namespaceObject, now);
  if (policy === undefined || override === undefined) return undefined;
  const { expiresAt } = override;
  const until = expiresAt === undefined ? '' : `until ${rfc3339(new Date(expiresAt))}, `;
  return `${until}violations here are ${overrideText(policy, override)}`;
}

export function termText({ path, found, accepted, near }: ExplainedTerm): string {
  return `${path}: found ${found}; accepted: ${accepted}${near === undefined ? '' : `; nearest: ${near}`}`;
}

/** The binding of a tenant is about its own namespace alone. */
export function isAbout({ state: { id } }: LoadedProvider, namespace: string): boolean {
  return (namespaceOfProvider(id) ?? namespace) === namespace;
}

export const excludedText =
  'no policy matches it, because it belongs to Kubernetes or Reeve, or the install excludes it';

/** Says why Reeve leaves the whole namespace alone, or returns undefined. */
export function whyUnmanaged(
  namespaceObject: KubeObject,
  { cluster }: Pick<LookedAt, 'cluster'>,
): string | undefined {
  if (cluster.snapshot().policies.isExcluded(nameOf(namespaceObject))) return excludedText;
  return isTerminating(namespaceObject)
    ? 'it is being deleted, so Reeve leaves its objects alone'
    : undefined;
}

export function noNamespace(name: string, { state, cluster }: LoadedState): string {
  const unread = state.unread.find(({ kind }) => kind === namespaceType.kind);
  if (unread !== undefined) return `namespaces could not be read: ${unread.reason}`;
  const near = nearestWord(name, [...cluster.snapshot().namespaces()].map(nameOf));
  return `there is no namespace ${name}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

/** Says why no policy matches the namespace of a flag. A misspelled name must not look like a namespace where all is well. */
export function unmanagedText(name: string, at: LoadedState): string | undefined {
  const namespaceObject = at.cluster.snapshot().namespace(name);
  if (namespaceObject === undefined) return noNamespace(name, at);
  const why = whyUnmanaged(namespaceObject, at);
  return why === undefined ? undefined : `namespace ${name}: ${why}`;
}

// Says the state of each object of a provider in one namespace, in the words of a plan.

/** An object of a provider, or an object that the provider does not provide here. */
export interface ObjectStanding extends ExplainedObject {
  readonly provider: string;
}

/** Sorted by kind and name of the object. Empty for a namespace that Reeve leaves alone. */
export async function standingsIn(
  namespaceObject: KubeObject,
  at: LookedAt,
): Promise<readonly ObjectStanding[]> {
  const namespace = nameOf(namespaceObject);
  const rows = (await namespaceRows(at, namespace)) ?? [];
  const wanted = at.planning.desiredCache.of(namespaceObject);
  const claimed = claimsIn(wanted).map((claim) => standingOf(claim, rows, namespace));
  const others = rows
    .filter(({ object, provider }) => object !== undefined && !claimed.some(isSame({ object, provider })))
    .flatMap(standingOfRow);
  const expired = expiredIn(wanted, namespace).filter((each) => !others.some(isSame(each)));
  return [...claimed, ...others, ...expired, ...givenIn(wanted, namespace)].toSorted(byObject);
}

function claimsIn({ claims, fields }: Desired): readonly (Claim | FieldsClaim)[] {
  return [...claims.values(), ...fields.values()].flat();
}

/** An object without a row of its own has the state of its owner's object, because one object serves both providers. */
function standingOf(
  { provider, type, name, content }: Claim | FieldsClaim,
  rows: readonly PlanChange[],
  namespace: string,
): ObjectStanding {
  const object = plannedObject({ type, name }, namespace);
  const own = rows.find(isSame({ object, provider }));
  if (own !== undefined) return { provider, object, ...wordsOf(own) };
  const isOther = isSame({ object });
  const owners =
    content.kind === 'fields'
      ? undefined
      : rows.find((row) => isOther(row) && row.reason !== 'ProvidedByAnother');
  if (owners === undefined) return { provider, object, outcome: 'in sync', ...fieldsText(content) };
  return { provider, object, outcome: owners.action, message: `${owners.provider ?? ''} provides the same` };
}

/** Says which fields of the ServiceAccount the provider adds. The ServiceAccount itself has another owner. */
function fieldsText(content: Claim['content'] | FieldsClaim['content']): Pick<ObjectStanding, 'message'> {
  if (content.kind !== 'fields') return {};
  const { pullSecrets, automount } = content.fields;
  const parts = [
    ...(pullSecrets.length === 0 ? [] : [`imagePullSecrets ${pullSecrets.join(', ')}`]),
    ...(automount === undefined ? [] : [`automountServiceAccountToken ${automount}`]),
  ];
  return { message: `adds ${parts.join(' and ')}` };
}

function standingOfRow({ provider, object, ...row }: PlanChange): readonly ObjectStanding[] {
  return provider === undefined || object === undefined ? [] : [{ provider, object, ...wordsOf(row) }];
}

const meanings: Readonly<Partial<Record<PlanChange['action'], string>>> = {
  create: 'Reeve is about to create it',
  update: 'it differs, and Reeve is about to change it',
  delete: 'it is no longer wanted here, and Reeve is about to delete it',
};

function wordsOf({
  action,
  message,
}: Pick<PlanChange, 'action' | 'message'>): Pick<ObjectStanding, 'outcome' | 'message'> {
  const words = message ?? meanings[action];
  return { outcome: action, ...(words === undefined ? {} : { message: words }) };
}

interface Placed {
  readonly object?: PlanChange['object'];
  readonly provider?: string | undefined;
}

/** Compares object and provider. Without a provider in `wanted`, any provider is the same. */
function isSame(wanted: Placed): (each: Placed) => boolean {
  return ({ object, provider }) =>
    object?.kind === wanted.object?.kind &&
    object?.name === wanted.object?.name &&
    (wanted.provider === undefined || provider === wanted.provider);
}

/** Returns the expired objects. Reeve has deleted them, so only their types and names are left. */
function expiredIn({ expired }: Desired, namespace: string): readonly ObjectStanding[] {
  return [...expired].flatMap(([provider, types]) =>
    [...types].map(([key, type]) => ({
      provider,
      object: plannedObject({ type, name: nameOfKey(key) }, namespace),
      outcome: 'expired',
      message: 'its end has come',
    })),
  );
}

/** Returns the objects that the Namespace records, whether users still have them or not. */
function givenIn({ given }: Desired, namespace: string): readonly ObjectStanding[] {
  return [...given.values()].map(({ provider, ...place }) => ({
    provider,
    object: plannedObject(place, namespace),
    outcome: 'created once',
    message: 'Reeve has created it once or found it there, and leaves it to the namespace',
  }));
}

function byObject({ object: a }: ObjectStanding, { object: b }: ObjectStanding): number {
  const [one, other] = [`${a.kind}/${a.name}`, `${b.kind}/${b.name}`];
  return one < other ? -1 : Number(one > other);
}
