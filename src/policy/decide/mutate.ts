// Sets the labels and annotations that policies default or enforce, and restores defaults that an update dropped.
import { unlimitedBudget, type Budget, type Circumstances } from '../terms/budget.ts';
import { deniesIn, isExcepted, matchNamespace, asStored } from '../terms/match.ts';
import type { JsonObject } from '../../base/json.ts';
import { clipped } from '../../base/text.ts';
import { shownName } from '../terms/provider-id.ts';
import {
  keyText,
  metadataMap,
  textsOf,
  valueOf,
  withMetadata,
  type KubeObject,
  type StringMap,
} from '../../base/metadata.ts';
import type { Review, Violation } from '../terms/review.ts';
import { rulesFor, type ClusterSnapshot } from '../compile/snapshot.ts';
import { namespaceDefaults, renderDefault, secretDefaults } from '../../rules/default-keys.ts';
import type { DefaultKey } from '../../rules/rule.ts';
import { creationOf } from './audit.ts';
import { enforceKeys } from './enforce.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';

/** A default of one policy can make another policy match. More rounds than this mean that policies contradict each other. */
const maxRounds = 8;

export interface Mutation {
  readonly patch: readonly JsonPatchOperation[];
  readonly denials: readonly Violation[];
  readonly policies: readonly string[];
  /** Warnings of keys that the write removes and the patch restores. */
  readonly notices: readonly string[];
  readonly overBudget: boolean;
}

const unchanged: Mutation = { patch: [], denials: [], policies: [], notices: [], overBudget: false };

export function mutate(review: Review, snapshot: ClusterSnapshot, circumstances: Circumstances): Mutation {
  const { object, resource } = review;
  if (object === undefined || snapshot.policies.isExcluded(review.namespace)) return unchanged;
  if (resource === 'namespaces') return mutateNamespace(review, object, snapshot, circumstances);
  return resource === 'secrets' ? mutateSecret(review, object, snapshot, circumstances) : unchanged;
}

/** The keys set so far, and the object with these keys. */
class Additions {
  readonly labels = new Map<string, string>();
  readonly annotations = new Map<string, string>();
  readonly policies = new Set<string>();
  /** Grows with each key whose value changes. */
  changes = 0;
  /** By key, because a later round may set another value. */
  readonly #notices = new Map<string, string>();
  readonly #original: KubeObject;

  constructor(original: KubeObject) {
    this.#original = original;
  }

  get object(): KubeObject {
    return withMetadata(withMetadata(this.#original, 'labels', this.labels), 'annotations', this.annotations);
  }

  valueOf({ field, key }: DefaultKey): string | undefined {
    return this[field].get(key) ?? valueOf(metadataMap(this.#original, field), key);
  }

  add({ field, key }: DefaultKey, value: string, policy: string): void {
    this[field].set(key, value);
    this.policies.add(policy);
    this.changes += 1;
  }

  /** Adds a key that the write removes. `shown` is its value where people may see it. */
  restore(key: DefaultKey, value: string, policy: string, shown: string | undefined): void {
    this.add(key, value, policy);
    const text = `${keyText(key.field, key.key)}${shown === undefined ? '' : `=${clipped(shown)}`}`;
    this.note(key, `${shownName(policy)} keeps ${text}, because it is one of its defaults`);
  }

  note({ field, key }: DefaultKey, text: string): void {
    this.#notices.set(`${field} ${key}`, text);
  }

  mutation(): Mutation {
    const notices = [...this.#notices.values()];
    const policies = [...this.policies].sort();
    return { ...unchanged, patch: patchOf(this.#original, this), policies, notices };
  }
}

function mutateNamespace(
  review: Review,
  object: KubeObject,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): Mutation {
  const additions = new Additions(object);
  switch (settleDefaults(review, additions, snapshot, { now, budget })) {
    case 'over-budget':
      return { ...unchanged, overBudget: true };
    case 'changed':
      return { ...unchanged, denials: [contradiction(additions)], policies: [...additions.policies].sort() };
    case 'unchanged':
      return additions.mutation();
  }
}

/** Returns the Namespace as both webhooks would store it, if someone created it now. */
export function withNamespaceDefaults(object: KubeObject, snapshot: ClusterSnapshot, now: Date): KubeObject {
  const additions = new Additions(object);
  const review = creationOf('namespaces', object, object);
  settleDefaults(review, additions, snapshot, { now, budget: unlimitedBudget });
  return additions.object;
}

/** Runs rounds until a round changes nothing, and returns how the last round ended. */
function settleDefaults(
  review: Review,
  additions: Additions,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): RoundEnd {
  for (let round = 1; round <= maxRounds; round += 1) {
    const end = runRound(review, additions, snapshot, now, budget);
    if (end !== 'changed') return end;
  }
  return 'changed';
}

type RoundEnd = 'changed' | 'unchanged' | 'over-budget';

function runRound(
  review: Review,
  additions: Additions,
  snapshot: ClusterSnapshot,
  now: Date,
  budget: Budget,
): RoundEnd {
  const before = additions.changes;
  const taken = new Set<string>();
  for (const policy of snapshot.policies.candidates('namespaces', [asStored(additions.object)])) {
    budget.charge?.(policy.name);
    if (budget.isSpent()) return 'over-budget';
    const keys = policy.namespaceDefaults.filter(
      ({ rule }) => !isExcepted(policy.exceptions, rule, review.namespace, now),
    );
    if (keys.length === 0) continue;
    setKeys(policy, keys, taken, review, additions, { now, budget });
  }
  // The budget may have ended within a policy, so defaults may be missing.
  if (budget.isSpent()) return 'over-budget';
  return additions.changes === before ? 'unchanged' : 'changed';
}

// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function setKeys(
  policy: CompiledPolicy,
  keys: readonly DefaultKey[],
  taken: Set<string>,
  review: Review,
  additions: Additions,
  { now, budget }: Circumstances,
): void {
  const object = asStored(additions.object);
  // An error of a match counts as no match: nothing is set here, and the validating webhook refuses the write.
  if (matchNamespace(policy.match, object, budget).kind !== 'yes') return;
  const old = review.oldObject === undefined ? undefined : asStored(review.oldObject);
  const movedIn = old === undefined || matchNamespace(policy.match, old, budget).kind !== 'yes';
  setDefaults(policy, keys, movedIn, review, additions, budget);
  if (!keys.some((key) => key.isEnforced) || !deniesIn(policy, object, now)) return;
  const graced = movedIn || !deniesIn(policy, old, now) ? undefined : old;
  enforceKeys(additions, { keys, policy: policy.name, graced, taken, review }, budget);
}

// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function setDefaults(
  policy: CompiledPolicy,
  keys: readonly DefaultKey[],
  movedIn: boolean,
  review: Review,
  additions: Additions,
  budget: Budget,
): void {
  for (const key of keys) {
    if (key.isEnforced || budget.isSpent() || additions.valueOf(key) !== undefined) continue;
    const dropped = valueOf(metadataMap(review.oldObject, key.field), key.key);
    if (dropped !== undefined) {
      additions.restore(key, dropped, policy.name, dropped);
      continue;
    }
    const value = movedIn ? newValue(policy, key, review, additions.object, budget) : undefined;
    if (value !== undefined) additions.add(key, value, policy.name);
  }
}

/** Returns undefined if the default cannot be rendered or violates a rule. Then validation reports the missing key. */
function newValue(
  policy: CompiledPolicy,
  key: DefaultKey,
  review: Review,
  namespaceObject: KubeObject,
  budget: Budget,
): string | undefined {
  if (key.readsRequest && review.operation !== 'CREATE') return undefined;
  const rendered = renderDefault(key, namespaceObject, review, budget);
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

/** Returns the Secret with the defaults that policies set on it. */
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
    budget.charge?.(policy.name);
    if (budget.isSpent()) return 'over-budget';
    if (policy.secretDefaults.length === 0 || rulesFor(policy, review).length === 0) continue;
    if (isExcepted(policy.exceptions, secretDefaults.id, review.namespace, now)) continue;
    if (matchNamespace(policy.match, namespaceObject, budget).kind !== 'yes') continue;
    setSecretDefaults(policy, review, namespaceObject, additions, budget);
  }
  return additions;
}

function setSecretDefaults(
  policy: CompiledPolicy,
  review: Review,
  namespaceObject: KubeObject,
  additions: Additions,
  budget: Budget,
): void {
  for (const key of policy.secretDefaults) {
    if (additions.valueOf(key) !== undefined || (key.readsRequest && review.isOwnWrite === true)) continue;
    const value = secretDefault(key, review, namespaceObject, budget);
    if (value === undefined) continue;
    // An annotation of a Secret can hold its data.
    if (review.operation === 'CREATE') additions.add(key, value, policy.name);
    else additions.restore(key, value, policy.name, undefined);
  }
}

function secretDefault(
  key: DefaultKey,
  review: Review,
  namespaceObject: KubeObject,
  budget: Budget,
): string | undefined {
  if (review.operation !== 'CREATE') return valueOf(metadataMap(review.oldObject, key.field), key.key);
  const rendered = renderDefault(key, namespaceObject, review, budget);
  return rendered.ok ? rendered.value : undefined;
}

function contradiction({ policies }: Additions): Violation {
  const [first = '', ...others] = [...policies].sort();
  return {
    policy: first,
    rule: namespaceDefaults.id,
    path: 'metadata',
    found: `defaults that still change the namespace after ${maxRounds} rounds`,
    accepted: `defaults that do not trigger each other; check policies ${[first, ...others].slice(0, 5).join(', ')}`,
  };
}

// Builds the smallest JSON Patch that adds labels and annotations to an object, and applies it.

export interface JsonPatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: string | StringMap | JsonObject;
}

interface MetadataAdditions {
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
}

export function patchOf(object: KubeObject, additions: MetadataAdditions): readonly JsonPatchOperation[] {
  return [
    ...additionsTo('labels', object.metadata.labels, additions.labels),
    ...additionsTo('annotations', object.metadata.annotations, additions.annotations),
  ];
}

function additionsTo(
  field: 'labels' | 'annotations',
  present: StringMap | undefined,
  added: ReadonlyMap<string, string>,
): readonly JsonPatchOperation[] {
  if (added.size === 0) return [];
  const sorted = [...added].sort(([a], [b]) => (a < b ? -1 : 1));
  // `add` fails below a missing member, so a missing map is added as a whole (RFC 6902, section 4.1).
  if (present === undefined)
    return [{ op: 'add', path: `/metadata/${field}`, value: Object.fromEntries(sorted) }];
  return sorted.map(([key, value]) => ({
    op: 'add',
    path: `/metadata/${field}/${escapePointer(key)}`,
    value,
  }));
}

/** Returns the object as the API server has it after the patch. */
export function patchedBy(object: KubeObject, patch: readonly JsonPatchOperation[]): KubeObject {
  return patch.reduce((result, { path, value }) => {
    const [field, key = ''] = path.slice('/metadata/'.length).split('/');
    const added =
      typeof value === 'string' ? [[unescapePointer(key), value] as const] : Object.entries(textsOf(value));
    return withMetadata(result, field === 'labels' ? field : 'annotations', new Map(added));
  }, object);
}

/** RFC 6901, section 3. The `~` is escaped first, so that the `~` of `~1` is not escaped again. */
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}
