// Finds the labels and annotations of an existing Namespace that `existing: Repair` sets: missing defaults, and enforced values.
import { type KubeObject, keyText, metadataMap, nameOf, valueOf } from '../../base/metadata.ts';
import { clipped, quoted } from '../../base/text.ts';
import { deniesIn, isExcepted, matchNamespace } from '../terms/match.ts';
import type { Budget, Circumstances } from '../terms/budget.ts';
import { renderDefault } from '../../rules/default-keys.ts';
import type { DefaultKey } from '../../rules/rule.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { Review } from '../terms/review.ts';
import { enforcingOwners } from '../compile/snapshot.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { Install } from '../terms/install.ts';

export interface KeyRepairs {
  /** The values to set. */
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  /** The keys to set, each with the policy or binding that sets the key. */
  readonly keys: readonly RepairedKey[];
  /** Enforced keys that keep another value. */
  readonly kept: readonly KeptKey[];
  /** For each policy with waves: whether they have moved the namespace. */
  readonly waves: ReadonlyMap<ProviderId, WaveStanding>;
}

/** `moved`: the namespace has a value that moves in waves. `behind`: it lacks one, which its wave sets now or later. */
export type WaveStanding = 'moved' | 'behind';

export interface RepairedKey extends Pick<DefaultKey, 'field' | 'key'> {
  readonly provider: ProviderId;
  /** The value that an enforced key has now. Undefined for a missing key. */
  readonly before: string | undefined;
}

export interface KeptKey extends Pick<RepairedKey, 'field' | 'key' | 'provider'> {
  /**
   * `conflict`: a policy that comes first enforces another value. `not-allowed`: the install does not name the key. `wave`: the
   * wave of the namespace has not begun, so nothing is wrong.
   */
  readonly why: 'conflict' | 'not-allowed' | 'wave';
  readonly message: string;
}

/** One word for the status, as in a condition. */
export const keptReasons = {
  conflict: 'ProvidedByAnother',
  'not-allowed': 'KeyNotAllowed',
  wave: 'WaitsForWave',
} as const;

interface RepairSources {
  /** The policies that can match the namespace, by name. */
  readonly policies: readonly CompiledPolicy[];
  /** True for a policy that changes existing namespaces. */
  readonly repairs: (policy: CompiledPolicy) => boolean;
  readonly install: Pick<Install, 'enforcedKeys'>;
  /** False if the waves of the policy have not reached the namespace. Absent: all waves are done. */
  readonly isReached?: (policy: CompiledPolicy) => boolean;
}

/** Returns undefined if there is nothing to set and nothing to report. Defaults that read `request` are left out. */
export function keyRepairs(
  { policies, repairs, install, isReached = () => true }: RepairSources,
  namespaceObject: KubeObject,
  { now, budget }: Circumstances,
): KeyRepairs | undefined {
  // An error of the match counts as no match.
  const matching = policies.filter(
    (policy) =>
      policy.namespaceDefaults.length > 0 &&
      matchNamespace(policy.match, namespaceObject, budget).kind === 'yes',
  );
  const enforcerOf = enforcingOwners(matching, namespaceObject, now);
  const found = new FoundKeys(namespaceObject);
  // Enforced values come first, because a default of any policy gives way to them.
  for (const policy of matching.filter((each) => deniesIn(each, namespaceObject, now))) {
    for (const { key, value } of valuesOf(policy, true, namespaceObject, { now, budget })) {
      if (enforcerOf(policy)(key.field, key.key))
        found.enforce(policy, key, value, { isDone: repairs(policy), install, isReached });
      else found.giveWay(policy, key, value);
    }
  }
  for (const policy of matching.filter(repairs))
    for (const { key, value } of valuesOf(policy, false, namespaceObject, { now, budget }))
      if (!found.has(key)) found.set(policy, key, value);
  return found.keys.length + found.kept.length + found.waves.size === 0 ? undefined : found;
}

interface Enforcing extends Required<Pick<RepairSources, 'install' | 'isReached'>> {
  /** True if the policy changes existing namespaces. */
  readonly isDone: boolean;
}

interface KeyValue {
  readonly key: DefaultKey;
  readonly value: string;
}

/** Leaves out keys whose value cannot be rendered or would violate a rule. */
function valuesOf(
  policy: CompiledPolicy,
  isEnforced: boolean,
  namespaceObject: KubeObject,
  { now, budget }: Circumstances,
): readonly KeyValue[] {
  const name = nameOf(namespaceObject);
  return policy.namespaceDefaults.flatMap((key) => {
    if (key.isEnforced !== isEnforced || isExcepted(policy.exceptions, key.rule, name, now)) return [];
    const value = budget.isSpent() ? undefined : valueFor(policy, key, namespaceObject, budget);
    return value === undefined ? [] : [{ key, value }];
  });
}

/** Collects the keys. The first policy with a value for a key sets that key. */
class FoundKeys implements KeyRepairs {
  readonly labels = new Map<string, string>();
  readonly annotations = new Map<string, string>();
  readonly keys: RepairedKey[] = [];
  readonly kept: KeptKey[] = [];
  readonly waves = new Map<ProviderId, WaveStanding>();
  readonly #object: KubeObject;
  /** The enforced values, by key. */
  readonly #enforced = new Map<string, { readonly value: string; readonly by: ProviderId }>();

  constructor(object: KubeObject) {
    this.#object = object;
  }

  has({ field, key }: DefaultKey): boolean {
    return this.#valueOf({ field, key }) !== undefined || this[field].has(key);
  }

  set(policy: CompiledPolicy, { field, key }: DefaultKey, value: string): void {
    this[field].set(key, value);
    this.keys.push({ provider: policy.id, field, key, before: this.#valueOf({ field, key }) });
  }

  enforce(
    policy: CompiledPolicy,
    each: DefaultKey,
    value: string,
    { isDone, install, isReached }: Enforcing,
  ): void {
    const { field, key } = each;
    this.#enforced.set(`${field} ${key}`, { value, by: policy.id });
    const before = this.#valueOf(each);
    if (before === value && each.waves !== undefined && !this.waves.has(policy.id))
      this.waves.set(policy.id, 'moved');
    if (before === value || !isDone) return;
    const now = before === undefined ? 'missing' : quoted(clipped(before));
    const is = `${keyText(field, key)} is ${now} and not ${quoted(clipped(value))}`;
    const keep = (why: KeptKey['why'], message: string): void => {
      this.kept.push({ provider: policy.id, field, key, why, message: `${is}, ${message}` });
    };
    if (before !== undefined && !install.enforcedKeys.includes(key)) {
      const how = `add ${key} to the value enforcedKeys of the chart (--enforced-key)`;
      keep('not-allowed', `and this install does not let Reeve change it: ${how}`);
      return;
    }
    if (each.waves !== undefined) this.waves.set(policy.id, 'behind');
    if (each.waves === undefined || isReached(policy)) this.set(policy, each, value);
    else keep('wave', 'until its wave begins');
  }

  /** Reports that a policy before enforces another value. */
  giveWay(policy: CompiledPolicy, { field, key }: DefaultKey, value: string): void {
    const first = this.#enforced.get(`${field} ${key}`);
    if (first === undefined || first.value === value) return;
    const message = `${first.by} comes first and enforces ${keyText(field, key)}=${clipped(first.value)}, not ${clipped(value)}`;
    this.kept.push({ provider: policy.id, field, key, why: 'conflict', message });
  }

  #valueOf({ field, key }: Pick<DefaultKey, 'field' | 'key'>): string | undefined {
    return valueOf(metadataMap(this.#object, field), key);
  }
}

function valueFor(
  policy: CompiledPolicy,
  key: DefaultKey,
  namespaceObject: KubeObject,
  budget: Budget,
): string | undefined {
  if (key.readsRequest) return undefined;
  const rendered = renderDefault(key, namespaceObject, noRequest, budget);
  if (!rendered.ok) return undefined;
  const accepts = policy.requirements.every(
    (requirement) =>
      requirement.field !== key.field || requirement.key !== key.key || requirement.accepts(rendered.value),
  );
  return accepts ? rendered.value : undefined;
}

const noRequest: Pick<Review, 'attributes'> = { attributes: {} };
