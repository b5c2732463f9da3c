// Fills in the labels and annotations that policies default, and gives back those that an update dropped.
import { unlimitedBudget, type Budget, type Circumstances } from '../terms/budget.ts';
import { isExcepted } from '../terms/exceptions.ts';
import { matchNamespace } from '../terms/match.ts';
import { metadataMap, valueOf, withMetadata } from '../../base/metadata.ts';
import { patchOf, type JsonPatchOperation } from '../terms/patch.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Review } from '../terms/review.ts';
import { rulesFor } from '../compile/applicable-rules.ts';
import { renderDefault, type DefaultKey } from '../rules/default-keys.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { asStored } from './steering.ts';
import type { Violation } from '../terms/verdict.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';

/** One policy's default can make another policy match; more rounds than this are a quarrel between policies. */
const mostRounds = 8;

export interface Mutation {
  readonly patch: readonly JsonPatchOperation[];
  readonly denials: readonly Violation[];
  readonly policies: readonly string[];
  readonly overBudget: boolean;
}

const unchanged: Mutation = { patch: [], denials: [], policies: [], overBudget: false };

export function mutate(review: Review, snapshot: ClusterSnapshot, circumstances: Circumstances): Mutation {
  const { object, resource } = review;
  if (object === undefined || snapshot.policies.isExcluded(review.namespace)) return unchanged;
  if (resource === 'namespaces') return mutateNamespace(review, object, snapshot, circumstances);
  return resource === 'secrets' ? mutateSecret(review, object, snapshot, circumstances) : unchanged;
}

/** The keys that have been added so far, and the object with them. */
class Additions {
  readonly labels = new Map<string, string>();
  readonly annotations = new Map<string, string>();
  readonly policies = new Set<string>();
  readonly #original: KubeObject;

  constructor(original: KubeObject) {
    this.#original = original;
  }

  get object(): KubeObject {
    return withMetadata(withMetadata(this.#original, 'labels', this.labels), 'annotations', this.annotations);
  }

  has({ field, key }: DefaultKey): boolean {
    return this[field].has(key) || valueOf(metadataMap(this.#original, field), key) !== undefined;
  }

  add({ field, key }: DefaultKey, value: string, policy: string): void {
    this[field].set(key, value);
    this.policies.add(policy);
  }

  mutation(): Mutation {
    return { ...unchanged, patch: patchOf(this.#original, this), policies: [...this.policies].sort() };
  }
}

function mutateNamespace(
  review: Review,
  object: KubeObject,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): Mutation {
  const additions = new Additions(object);
  for (let round = 1; round <= mostRounds; round += 1) {
    const outcome = runRound(review, additions, snapshot, now, budget);
    if (outcome === 'over-budget') return { ...unchanged, overBudget: true };
    if (outcome === 'quiet') return additions.mutation();
  }
  return { ...unchanged, denials: [quarrel(additions)], policies: [...additions.policies].sort() };
}

function runRound(
  review: Review,
  additions: Additions,
  snapshot: ClusterSnapshot,
  now: Date,
  budget: Budget,
): 'changed' | 'quiet' | 'over-budget' {
  const before = additions.labels.size + additions.annotations.size;
  for (const policy of snapshot.policies.candidates('namespaces', [asStored(additions.object)])) {
    if (budget.isSpent()) return 'over-budget';
    if (policy.namespaceDefaults.length === 0) continue;
    if (isExcepted(policy.exceptions, 'namespaces.defaults', review.namespace, now)) continue;
    const object = asStored(additions.object);
    // An error of a match is no yes: nothing is set, and the validating hook refuses.
    if (matchNamespace(policy.match, object).kind === 'yes') setDefaults(policy, review, additions, budget);
  }
  // Defaults that were left out for want of time must not pass for none.
  if (budget.isSpent()) return 'over-budget';
  return additions.labels.size + additions.annotations.size === before ? 'quiet' : 'changed';
}

function setDefaults(policy: CompiledPolicy, review: Review, additions: Additions, budget: Budget): void {
  const movedIn =
    review.oldObject === undefined || matchNamespace(policy.match, asStored(review.oldObject)).kind !== 'yes';
  for (const key of policy.namespaceDefaults) {
    if (budget.isSpent() || additions.has(key)) continue;
    const dropped = valueOf(metadataMap(review.oldObject, key.field), key.key);
    const value = dropped ?? (movedIn ? newValue(policy, key, review, additions.object) : undefined);
    if (value !== undefined) additions.add(key, value, policy.name);
  }
}

/** Undefined where nothing is to be set: validation then says what is missing, and why it has no default. */
function newValue(
  policy: CompiledPolicy,
  key: DefaultKey,
  review: Review,
  namespaceObject: KubeObject,
): string | undefined {
  if (key.readsRequest && review.operation !== 'CREATE') return undefined;
  const rendered = renderDefault(key, namespaceObject, review);
  if (!rendered.ok) return undefined;
  const required = policy.requirements.filter(
    ({ field, key: name }) => field === key.field && name === key.key,
  );
  return required.every((requirement) => requirement.accepts(rendered.value)) ? rendered.value : undefined;
}

function mutateSecret(
  review: Review,
  secret: KubeObject,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): Mutation {
  const additions = secretAdditions(review, secret, snapshot, { now, budget });
  return additions === 'over-budget' ? { ...unchanged, overBudget: true } : additions.mutation();
}

/** The Secret with the defaults that policies have for it. */
export function withSecretDefaults(
  review: Review,
  secret: KubeObject,
  snapshot: ClusterSnapshot,
  now: Date,
): KubeObject {
  const additions = secretAdditions(review, secret, snapshot, { now, budget: unlimitedBudget });
  return additions === 'over-budget' ? secret : additions.object;
}

function secretAdditions(
  review: Review,
  secret: KubeObject,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): Additions | 'over-budget' {
  const additions = new Additions(secret);
  const namespaceObject = snapshot.namespace(review.namespace);
  if (namespaceObject === undefined) return additions;
  for (const policy of snapshot.policies.candidates('secrets', [namespaceObject])) {
    if (budget.isSpent()) return 'over-budget';
    if (policy.secretDefaults.length === 0 || rulesFor(policy, review).length === 0) continue;
    if (isExcepted(policy.exceptions, 'secrets.defaults', review.namespace, now)) continue;
    if (matchNamespace(policy.match, namespaceObject).kind !== 'yes') continue;
    setSecretDefaults(policy, review, namespaceObject, additions);
  }
  return additions;
}

function setSecretDefaults(
  policy: CompiledPolicy,
  review: Review,
  namespaceObject: KubeObject,
  additions: Additions,
): void {
  for (const key of policy.secretDefaults) {
    if (additions.has(key) || (key.readsRequest && review.isOwnWrite === true)) continue;
    const value = secretDefault(key, review, namespaceObject);
    if (value !== undefined) additions.add(key, value, policy.name);
  }
}

function secretDefault(key: DefaultKey, review: Review, namespaceObject: KubeObject): string | undefined {
  if (review.operation !== 'CREATE') return valueOf(metadataMap(review.oldObject, key.field), key.key);
  const rendered = renderDefault(key, namespaceObject, review);
  return rendered.ok ? rendered.value : undefined;
}

function quarrel({ policies }: Additions): Violation {
  const [first = '', ...others] = [...policies].sort();
  return {
    policy: first,
    rule: 'namespaces.defaults',
    path: 'metadata',
    found: `defaults that still change the namespace after ${mostRounds} rounds`,
    accepted: `policies that settle sooner; these set each other off: ${[first, ...others].slice(0, 5).join(', ')}`,
  };
}
