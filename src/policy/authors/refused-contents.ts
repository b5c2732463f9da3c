// Finds the objects that a written policy refuses, and the written contents that other policies refuse.
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { isDueAt, type CompiledContent } from '../../contents/content.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { CompiledShare } from '../compile/compile-share.ts';
import type { CompiledRule } from '../../rules/rules.ts';
import { policyIn, shareIn } from '../compile/load-provider.ts';
import { isSameObjectType, secretObjectType } from '../../base/object-type.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { auditObject } from '../decide/audit.ts';
import type { Circumstances } from '../terms/budget.ts';
import type { ReviewedResource } from '../../rules/rule.ts';
import { deniesIn, deniesSomewhere, matchNamespace } from '../terms/match.ts';
import {
  contentExceptionsOf,
  hasSame,
  ObjectGroups,
  variablesOf,
  type ProviderWrite,
} from './provider-write.ts';

interface Refusal {
  readonly kind: 'RoleBinding' | 'Secret';
  readonly by: ProviderId;
  readonly provider: ProviderId;
}

/** Copies that the webhook cannot judge, because it reads no Secrets. */
interface UnreadCopies {
  readonly shares: Set<ProviderId>;
  readonly namespaces: Set<string>;
}

/** A limit, because a warning must not use up the time of the review. Beyond it, the numbers are minimums. */
const maxLooks = 5000;

export class RefusedContents {
  readonly unread: UnreadCopies = { shares: new Set(), namespaces: new Set() };
  /** False if the time did not suffice for all namespaces. */
  isComplete = true;
  readonly #found = new ObjectGroups<Refusal>();
  /** Undefined for a policy that denies nowhere. */
  readonly #policy: CompiledPolicy | undefined;
  readonly #hasSameRules: boolean;
  readonly #hasSameBindings: boolean;
  readonly #write: ProviderWrite;
  readonly #providesSame: boolean;
  /** The RoleBindings of the newer version. Empty while it is suspended. */
  readonly #bindings: readonly CompiledContent[];
  readonly #share: CompiledShare | undefined;
  /** The rules on Secrets. A copy gets its defaults before it is judged. */
  readonly #secretRules: readonly CompiledRule[];
  readonly #snapshot: ClusterSnapshot;
  readonly #circumstances: Circumstances;
  #looks = 0;

  constructor(write: ProviderWrite, snapshot: ClusterSnapshot, circumstances: Circumstances) {
    const { after } = write;
    const policy = policyIn(after)?.compiled;
    this.#policy = policy !== undefined && deniesSomewhere(policy, circumstances.now) ? policy : undefined;
    this.#hasSameRules = hasSame(write, rulesIn);
    this.#hasSameBindings = hasSame(write, bindingsIn);
    this.#write = write;
    this.#providesSame = hasSame(write, providedIn);
    this.#bindings = roleBindingsIn(after);
    const share = shareIn(after)?.compiled;
    this.#share = share?.isSuspended === true ? undefined : share;
    this.#secretRules = (policy?.rules.secrets ?? []).filter(({ traits }) => traits.isFulfilled !== true);
    this.#snapshot = snapshot;
    this.#circumstances = circumstances;
  }

  get all() {
    return this.#found.all;
  }

  /** The newer version must match the namespace. Unless `isGained`, the older version matches it too. */
  add(namespaceObject: KubeObject, isGained: boolean): void {
    this.#addRefusing(namespaceObject, isGained);
    this.#addRefused(namespaceObject, isGained);
  }

  /** Adds the objects that the written policy refuses. */
  #addRefusing(namespaceObject: KubeObject, isGained: boolean): void {
    const policy = this.#policy;
    if (policy === undefined || !this.#deniesIn(policy, namespaceObject)) return;
    const judgesAll = !this.#hasSameRules || isGained;
    if (policy.rules.rolebindings.length > 0) this.#addBindings(policy, judgesAll, namespaceObject);
    if (judgesAll && this.#secretRules.length > 0) this.#addCopies(policy, namespaceObject);
  }

  #addBindings(policy: CompiledPolicy, judgesAll: boolean, namespaceObject: KubeObject): void {
    const own = judgesAll || !this.#hasSameBindings ? [policy] : [];
    const stored = judgesAll ? this.#snapshot.policies.candidates('namespaces', [namespaceObject]) : [];
    for (const provider of [...own, ...stored.filter(({ id }) => id !== policy.id)]) {
      const bindings = roleBindingsOf(provider);
      if (bindings.length === 0 || !this.#looksAt(provider, namespaceObject)) continue;
      for (const binding of bindings) this.#addBinding(policy, provider.id, binding, namespaceObject);
    }
  }

  /** Adds the contents of this write that other policies refuse. */
  #addRefused(namespaceObject: KubeObject, isGained: boolean): void {
    const { id, before } = this.#write;
    if (this.#providesSame && !isGained) return;
    const older = isGained ? [] : roleBindingsIn(before);
    if (this.#bindings.length > 0)
      for (const policy of this.#judgesOf('rolebindings', namespaceObject))
        for (const binding of this.#bindings) this.#addBinding(policy, id, binding, namespaceObject, older);
    const share = this.#share;
    if (share === undefined) return;
    for (const policy of this.#judgesOf('secrets', namespaceObject))
      if (this.#refusesType(policy, share, namespaceObject))
        this.#found.add(
          { kind: 'Secret', by: policy.id, provider: id },
          share.copy.name,
          nameOf(namespaceObject),
        );
  }

  #deniesIn(policy: CompiledPolicy, namespaceObject: KubeObject): boolean {
    return deniesIn(policy, namespaceObject, this.#circumstances.now);
  }

  /** Returns the other policies that deny there and judge the resource in the namespace. */
  #judgesOf(resource: ReviewedResource, namespaceObject: KubeObject): readonly CompiledPolicy[] {
    const candidates = this.#snapshot.policies.candidates(resource, [namespaceObject]);
    return candidates.filter(
      (policy) =>
        policy.id !== this.#write.id &&
        this.#deniesIn(policy, namespaceObject) &&
        this.#looksAt(policy, namespaceObject),
    );
  }

  // oxlint-disable-next-line max-params -- two callers, which have them all at hand
  #addBinding(
    policy: CompiledPolicy,
    provider: ProviderId,
    content: CompiledContent,
    namespaceObject: KubeObject,
    older: readonly CompiledContent[] = [],
  ): void {
    const same = older.find((each) => each.name === content.name);
    const known = same === undefined ? [] : this.#violations(policy, same, namespaceObject);
    const before = known.flatMap(({ found }) => found);
    for (const { name, found } of this.#violations(policy, content, namespaceObject)) {
      // Violations that the older version has as well are known already, or refuse no change.
      if (found.some((each) => !before.includes(each)))
        this.#found.add({ kind: 'RoleBinding', by: policy.id, provider }, name, nameOf(namespaceObject));
    }
  }

  /** Returns each RoleBinding by its name, with its violations as texts. */
  #violations(
    policy: CompiledPolicy,
    content: CompiledContent,
    namespaceObject: KubeObject,
  ): readonly { readonly name: string; readonly found: readonly string[] }[] {
    const { now, budget } = this.#circumstances;
    return content.render(namespaceObject, budget).flatMap((rendered) => {
      if (rendered.kind !== 'present') return [];
      const { name, form } = rendered.value;
      if (!isDueAt(rendered, now) || form.kind !== 'object') return [];
      const binding = {
        ...form.body,
        ...content.type,
        metadata: { name, namespace: nameOf(namespaceObject) },
      };
      const found = auditObject(policy, 'rolebindings', binding, namespaceObject, this.#circumstances);
      return [{ name, found: found.map((each) => `${each.rule} ${each.found}`) }];
    });
  }

  #addCopies(policy: CompiledPolicy, namespaceObject: KubeObject): void {
    for (const share of this.#snapshot.shares.candidates([namespaceObject])) {
      if (!isSameObjectType(share.type, secretObjectType)) continue;
      if (!this.#looksAt(share, namespaceObject)) continue;
      const { name, type } = share.copy;
      const provider = share.id;
      if (this.#refusesType(policy, share, namespaceObject))
        this.#found.add({ kind: 'Secret', by: policy.id, provider }, name, nameOf(namespaceObject));
      else if (type === '' || this.#secretRules.some((rule) => !readsOnlyType(rule))) {
        this.unread.shares.add(provider);
        this.unread.namespaces.add(nameOf(namespaceObject));
      }
    }
  }

  /** A share names the type of its copies only if it differs from the type of the source. */
  #refusesType(policy: CompiledPolicy, { copy }: CompiledShare, namespaceObject: KubeObject): boolean {
    const { name, type } = copy;
    if (type === '') return false;
    const secret = { ...secretObjectType, type, metadata: { name, namespace: nameOf(namespaceObject) } };
    const violations = auditObject(policy, 'secrets', secret, namespaceObject, this.#circumstances);
    const typeRules = policy.rules.secrets.filter(readsOnlyType);
    return violations.some(({ rule }) => typeRules.some(({ id }) => id === rule));
  }

  #looksAt({ match }: Pick<CompiledPolicy, 'match'>, namespaceObject: KubeObject): boolean {
    if (this.#looks >= maxLooks) this.isComplete = false;
    else this.#looks += 1;
    return (
      this.isComplete && matchNamespace(match, namespaceObject, this.#circumstances.budget).kind === 'yes'
    );
  }
}

function readsOnlyType({ traits }: CompiledRule): boolean {
  return traits.readsOnlyType === true;
}

function bindingsIn(definition: ProviderWrite['after']): unknown {
  const policy = policyIn(definition)?.compiled;
  if (policy === undefined) return undefined;
  const exceptions = contentExceptionsOf(definition);
  return [variablesOf(definition), exceptions, roleBindingsOf(policy).map(({ value }) => value)];
}

function providedIn(definition: ProviderWrite['after']): unknown {
  return [shareIn(definition)?.compiled.copy, bindingsIn(definition), definition?.object.spec.suspend];
}

function rulesIn(definition: ProviderWrite['after']): unknown {
  const spec = policyIn(definition)?.object.spec;
  const { validationActions, validationActionOverrides, rbac, secrets, exceptions } = spec ?? {};
  return [validationActions, validationActionOverrides, rbac, secrets, exceptions];
}

/** Returns the RoleBindings of a version. A suspended policy provides none. */
function roleBindingsIn(definition: ProviderWrite['after']): readonly CompiledContent[] {
  const policy = policyIn(definition)?.compiled;
  return policy === undefined || policy.isSuspended ? [] : roleBindingsOf(policy);
}

function roleBindingsOf({ contents }: CompiledPolicy): readonly CompiledContent[] {
  return contents.filter(({ contentKind }) => contentKind.judgedAs === 'rolebindings');
}
