// Compares two versions of a provider over all namespaces: the matched namespaces, and the dropped or changed objects.
import { isDeepStrictEqual } from 'node:util';
import { type QuotaSpec, exceededBy, type OverQuota } from '../../rules/namespace-quota.ts';
import { type KubeObject, keyText, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import { CountingBudget, type Steps } from '../terms/budget.ts';
import { isManaged } from '../desired/desired.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import { deniesIn, deniesSomewhere, matchNamespace, mayMatch, type MatchResult } from '../terms/match.ts';
import { hasAuditableRules, type ClusterSnapshot } from '../compile/snapshot.ts';
import {
  hasSame,
  ObjectGroups,
  reachableBy,
  type ProviderCircumstances,
  type ProviderWrite,
  variablesOf,
} from './provider-write.ts';
import { type ProviderDefinition, policyIn, quotaIn } from '../compile/load-provider.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { CompiledContent, Rendered, RenderedContent } from '../../contents/content.ts';
import { auditNamespace, type AuditedResource, costIn, dearer, type NamespaceCost } from '../decide/audit.ts';
import { keyRepairs, type KeyRepairs } from '../plan/repair.ts';
import { movesFaster } from '../plan/waves.ts';
import { contentChanges, type ContentChange } from './content-changes.ts';
import { ProviderDifference, UnrenderedContents, type HandOver } from './write-difference.ts';
import { matchOf } from './no-effect.ts';
import { RefusedContents } from './refused-contents.ts';

export type Impact = Omit<Comparison, 'add' | 'leaveOut'>;

/** A namespace for which a match condition of the newer version has an error. */
export interface UnmatchedNamespace {
  readonly name: string;
  readonly condition: string;
  readonly message: string;
  /** True if the error makes the webhook refuse writes of the namespace. */
  readonly isDenied: boolean;
  /** True if it did so by the older version, too. */
  readonly wasDenied: boolean;
}

/** A step never does more than a part of one namespace. */
export function* impactOf(
  write: ProviderWrite,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<Impact> {
  const { before, after } = write;
  const rendersOnce = { ...write, before: renderingOnce(before), after: renderingOnce(after) };
  const comparison = new Comparison(rendersOnce, snapshot, circumstances);
  // Watches change the namespaces of the snapshot between two steps.
  const namespaces = reachableBy(write.id, snapshot);
  for (const namespaceObject of namespaces) {
    if (!isManaged(namespaceObject, snapshot)) continue;
    yield;
    if (circumstances.budget.isSpent()) comparison.leaveOut(namespaceObject);
    else yield* comparison.add(namespaceObject);
  }
  return comparison;
}

const no: MatchResult = { kind: 'no' };

/** Adds up the impact, one namespace after the other. */
class Comparison {
  /** Names of the namespaces that only the newer version matches. */
  readonly gained: string[] = [];
  /** Names of the namespaces that only the older version matches. */
  readonly lost: string[] = [];
  /** Counts the namespaces that the newer version matches, then those that it could match. */
  matched = 0;
  managed = 0;
  /** The number of objects that no provider wants after the write, by namespace. */
  readonly dropped = new Map<string, number>();
  readonly unmatched: UnmatchedNamespace[] = [];
  /** Names of the namespaces that cost too much. The numbers leave them out. */
  readonly tooDear: string[] = [];
  /** Names of the namespaces for which the webhook had no time. The numbers leave them out. */
  readonly late: string[] = [];
  /** The namespace in which the newer version costs the most. */
  dearest: NamespaceCost | undefined;
  /** True if the budget ended before the last namespace. */
  isCutShort = false;
  /** The number of existing violations by namespace, where the policy turns to Deny. */
  readonly violating = new Map<string, number>();
  /** The number of violations of other objects, by the status. Only for a policy that turns to Deny in any namespace. */
  readonly violatingObjects = new Map<AuditedResource, number>();
  /** True if the newer version can refuse a write in any namespace. */
  readonly canDeny: boolean;
  /** The objects that differ in namespaces that both versions match, with the names of these namespaces. */
  readonly changed = new Map<ContentChange, string[]>();
  /** The labels and annotations that existing namespaces get, with the names of these namespaces. Only for `existing: Repair`. */
  readonly repaired = new Map<string, string[]>();
  /** The labels and annotations whose value existing namespaces lose to an enforced one, with the names of these namespaces. */
  readonly replaced = new Map<string, string[]>();
  /** The labels and annotations that keep another value than the enforced one, because the install does not name them. */
  readonly kept = new Map<string, string[]>();
  /** Contents that namespaces do not get. If the write does not change the contents, only gained namespaces count. */
  readonly unrendered = new UnrenderedContents();
  readonly handOvers = new ObjectGroups<{ effect: HandOver['effect']; other: ProviderId; kind: string }>();
  /** Values of the quota's label that too many namespaces already have. */
  readonly quotas: QuotaUse;
  /** The objects of policies and shares that this policy refuses. */
  readonly refused: RefusedContents;
  readonly #write: ProviderWrite;
  readonly #difference: ProviderDifference;
  readonly #circumstances: ProviderCircumstances;
  readonly #hasSameMatch: boolean;
  /** Undefined for a new policy, a deleted one and a share. */
  readonly #versions: PolicyVersions | undefined;
  /** The policy, if it repairs existing namespaces. */
  readonly #repairing: CompiledPolicy | undefined;
  readonly #repairingBefore: CompiledPolicy | undefined;
  readonly #changes: readonly ContentChange[];

  constructor(write: ProviderWrite, snapshot: ClusterSnapshot, circumstances: ProviderCircumstances) {
    this.#write = write;
    this.#circumstances = circumstances;
    this.#hasSameMatch = hasSame(write, (version) => version && [matchOf(version), variablesOf(version)]);
    const [older, newer] = [policyIn(write.before)?.compiled, policyIn(write.after)?.compiled];
    this.#versions = older === undefined || newer === undefined ? undefined : { older, newer };
    this.canDeny = newer !== undefined && deniesSomewhere(newer, circumstances.now);
    if (this.canDeny && older !== undefined && !deniesSomewhere(older, circumstances.now)) this.#turnToDeny();
    this.#repairing = repairing(write.after);
    this.#repairingBefore = repairing(write.before);
    this.#changes = contentChanges(write, circumstances.install);
    this.quotas = new QuotaUse(write);
    this.refused = new RefusedContents(write, snapshot, circumstances);
    this.#difference = new ProviderDifference(write, snapshot, circumstances);
  }

  /** Leaves out a namespace after the end of the whole budget. */
  leaveOut(namespaceObject: KubeObject): void {
    this.managed += 1;
    const { before, after } = this.#write;
    const versions = [before, after].filter((version) => version !== undefined);
    if (!versions.some(({ compiled }) => mayMatch(compiled.match, namespaceObject))) return;
    this.isCutShort = true;
    this.#leaveOut(namespaceObject);
  }

  #leaveOut(namespaceObject: KubeObject): void {
    const { isLate } = this.#circumstances.budget;
    (isLate ? this.late : this.tooDear).push(nameOf(namespaceObject));
  }

  /** A namespace is missing in the numbers for which its step had no budget. */
  *add(namespaceObject: KubeObject): Steps<void> {
    this.managed += 1;
    const { before, after } = this.#write;
    const older = this.#match(before, namespaceObject);
    const isOlderLate = older.kind === 'error' && this.#isSpent();
    if (!this.#hasSameMatch) yield;
    const newer = this.#hasSameMatch ? older : this.#match(after, namespaceObject);
    if (older.kind === 'no' && newer.kind === 'no') return;
    const isLate = isOlderLate || (newer.kind === 'error' && this.#isSpent());
    yield;
    // At the end of the budget, an error says nothing about the condition.
    if (!isLate) this.#addMatched(namespaceObject, older, newer);
    if (isLate || this.#isSpent()) this.#leaveOut(namespaceObject);
  }

  #measure(namespaceObject: KubeObject): void {
    const { after } = this.#write;
    if (after !== undefined)
      this.dearest = dearer(this.dearest, costIn(after, namespaceObject, this.#circumstances));
  }

  #addMatched(namespaceObject: KubeObject, older: MatchResult, newer: MatchResult): void {
    const name = nameOf(namespaceObject);
    this.quotas.add(namespaceObject, [older, newer]);
    if (newer.kind === 'error') {
      const { condition, message } = newer;
      const { after, before } = this.#write;
      const isDenied = this.#deniesIn(after, namespaceObject);
      const wasDenied = older.kind === 'error' && this.#deniesIn(before, namespaceObject);
      this.unmatched.push({ name, condition, message, isDenied, wasDenied });
    }
    if (newer.kind === 'yes') {
      this.matched += 1;
      this.#measure(namespaceObject);
      this.#audit(namespaceObject);
      this.#repair(namespaceObject);
      this.refused.add(namespaceObject, older.kind !== 'yes');
      if (older.kind === 'yes') this.#compare(namespaceObject);
      else this.gained.push(name);
    }
    if (older.kind === 'yes' && newer.kind === 'no') this.lost.push(name);
    // This follows the measurement of the cost, because no content is rendered twice.
    const { lost, handedOver, unrendered } = this.#difference.in(namespaceObject, older.kind, newer.kind);
    if (lost > 0) this.dropped.set(name, lost);
    for (const content of unrendered) this.unrendered.add(content, name);
    for (const { effect, other, claim } of handedOver)
      this.handOvers.add({ effect, other: other.provider, kind: claim.type.kind }, claim.name, name);
  }

  #deniesIn(definition: ProviderDefinition | undefined, namespaceObject: KubeObject): boolean {
    const policy = policyIn(definition)?.compiled;
    return policy !== undefined && deniesIn(policy, namespaceObject, this.#circumstances.now);
  }

  #turnToDeny(): void {
    const policy = this.#versions?.newer;
    for (const [resource, count] of this.#write.reported.violations)
      if (policy !== undefined && hasAuditableRules(policy, resource))
        this.violatingObjects.set(resource, count);
  }

  #audit(namespaceObject: KubeObject): void {
    if (this.#versions === undefined) return;
    const { older, newer } = this.#versions;
    const { now } = this.#circumstances;
    // Existing violations block no write, so an author must hear of them where Warn or Audit turns into Deny.
    if (deniesIn(older, namespaceObject, now) || !deniesIn(newer, namespaceObject, now)) return;
    this.#turnToDeny();
    const { violations } = auditNamespace(newer, namespaceObject, this.#circumstances);
    if (violations.length > 0) this.violating.set(nameOf(namespaceObject), violations.length);
  }

  #repair(namespaceObject: KubeObject): void {
    if (this.#repairing === undefined) return;
    const name = nameOf(namespaceObject);
    const found = this.#repairsOf(this.#repairing, namespaceObject);
    const earlier = this.#repairsBefore(this.#repairing, namespaceObject);
    for (const { field, key, before } of found?.keys ?? []) {
      const text = keyText(field, key);
      if (before === undefined) append(this.repaired, text, name);
      // What the older version changes, too, is under way already.
      else if (earlier?.[field].get(key) !== found?.[field].get(key)) append(this.replaced, text, name);
    }
    for (const { field, key } of found?.kept ?? []) append(this.kept, keyText(field, key), name);
  }

  /** The older version keeps back what its waves have not reached, so that a faster one changes all of it. */
  #repairsBefore(newer: CompiledPolicy, namespaceObject: KubeObject): KeyRepairs | undefined {
    const older = this.#repairingBefore;
    return movesFaster(older, newer) ? undefined : this.#repairsOf(older, namespaceObject);
  }

  #repairsOf(policy: CompiledPolicy | undefined, namespaceObject: KubeObject): KeyRepairs | undefined {
    if (policy === undefined) return undefined;
    const { install } = this.#circumstances;
    return keyRepairs(
      { policies: [policy], repairs: () => true, install },
      namespaceObject,
      this.#circumstances,
    );
  }

  #compare(namespaceObject: KubeObject): void {
    for (const change of this.#changes)
      if (change.affects(namespaceObject, this.#circumstances))
        append(this.changed, change, nameOf(namespaceObject));
  }

  #isSpent(): boolean {
    return this.#circumstances.budget.isSpent();
  }

  #match(definition: ProviderDefinition | undefined, namespaceObject: KubeObject): MatchResult {
    if (definition === undefined) return no;
    const budget = new CountingBudget(this.#circumstances.budget);
    const result = matchNamespace(definition.compiled.match, namespaceObject, budget);
    // A write of a namespace pays for the match, whatever the result of the match is.
    if (this.#hasSameMatch || definition === this.#write.after)
      this.dearest = dearer(this.dearest, { name: nameOf(namespaceObject), units: budget.units });
    return result;
  }
}

/** Counts the namespaces of both versions towards their quotas. */
class QuotaUse {
  readonly #quotas: readonly (QuotaSpec | undefined)[];
  readonly #members = [new Map<string, string | undefined>(), new Map<string, string | undefined>()];

  constructor({ before, after }: ProviderWrite) {
    this.#quotas = [quotaIn(before), quotaIn(after)];
  }

  add(namespaceObject: KubeObject, matches: readonly MatchResult[]): void {
    for (const [index, quota] of this.#quotas.entries())
      if (quota !== undefined && matches[index]?.kind === 'yes')
        this.#members[index]?.set(nameOf(namespaceObject), valueOf(labelsOf(namespaceObject), quota.label));
  }

  /** Values of the newer version with too many namespaces, without the values that the write does not change. */
  get over(): readonly OverQuota[] {
    const [old = [], now = []] = this.#quotas.map((quota, index) =>
      quota === undefined ? [] : exceededBy(quota, this.#members[index] ?? []),
    );
    const [before, after] = this.#quotas;
    const isSame = isDeepStrictEqual(before, after);
    return now.filter((each) => !isSame || !old.some((known) => isDeepStrictEqual(known, each)));
  }
}

function append<K>(lists: Map<K, string[]>, key: K, name: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [name]);
  else list.push(name);
}

/** Returns the sum over all namespaces. */
export function totalOf(byNamespace: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const count of byNamespace.values()) total += count;
  return total;
}

/** Returns the policy if it sets its defaults and enforced values on existing namespaces. */
function repairing(definition: ProviderDefinition | undefined): CompiledPolicy | undefined {
  const policy = policyIn(definition);
  const isRepairing = policy?.object.spec.existing === 'Repair' && !policy.compiled.isSuspended;
  return isRepairing ? policy.compiled : undefined;
}

interface PolicyVersions {
  readonly older: CompiledPolicy;
  readonly newer: CompiledPolicy;
}

/** Remembers the rendering, because lost and changed objects both need it, and it takes most of the time. */
function renderingOnce(definition: ProviderDefinition | undefined): ProviderDefinition | undefined {
  const policy = policyIn(definition);
  if (policy === undefined) return definition;
  const { compiled } = policy;
  return { ...policy, compiled: { ...compiled, contents: compiled.contents.map(rememberingLast) } };
}

function rememberingLast(content: CompiledContent): CompiledContent {
  let last: readonly [KubeObject, readonly Rendered<RenderedContent>[]] | undefined;
  return {
    ...content,
    render(namespaceObject, budget) {
      if (last?.[0] !== namespaceObject) last = [namespaceObject, content.render(namespaceObject, budget)];
      return last[1];
    },
  };
}
