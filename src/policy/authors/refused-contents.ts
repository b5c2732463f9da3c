// Finds what policies and shares provide in namespaces where a written policy refuses it, or judges it later.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/kube-object.ts';
import { nameOf } from '../../base/metadata.ts';
import type { CompiledContent } from '../compile/compile-contents.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { isSameObjectType, roleBindingType, secretObjectType } from '../compile/object-key.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { auditObject } from '../decide/audit.ts';
import type { Circumstances } from '../terms/budget.ts';
import { matchNamespace } from '../terms/match.ts';
import { providerId, type ProviderId } from '../terms/provider-id.ts';
import type { ProviderWrite } from './provider-write.ts';

export interface RefusedContent {
  readonly kind: 'RoleBinding' | 'Secret';
  readonly provider: ProviderId;
  readonly names: Set<string>;
  readonly namespaces: Set<string>;
}

/** Copies that the webhook cannot judge, because it reads no Secrets. */
export interface UnreadCopies {
  readonly shares: Set<ProviderId>;
  readonly namespaces: Set<string>;
}

/** A warning must not use up the time of the review. The numbers are minimums beyond that. */
const maxLooks = 5000;

const typeRules: readonly string[] = ['secrets.allowedTypes', 'secrets.forbiddenTypes'];

export class RefusedContents {
  readonly unread: UnreadCopies = { shares: new Set(), namespaces: new Set() };
  /** False if there was no time to look at all namespaces. */
  isComplete = true;
  readonly #all = new Map<string, RefusedContent>();
  /** Undefined for a policy without Deny. */
  readonly #policy: CompiledPolicy | undefined;
  readonly #hasSameRules: boolean;
  readonly #hasSameBindings: boolean;
  /** The rules on Secrets. Defaults are set on a copy before it is judged. */
  readonly #secretRules: readonly string[];
  readonly #snapshot: ClusterSnapshot;
  readonly #circumstances: Circumstances;
  #looks = 0;

  constructor(write: ProviderWrite, snapshot: ClusterSnapshot, circumstances: Circumstances) {
    const { after } = write;
    const policy = after?.kind === 'NamespacePolicy' ? after.compiled : undefined;
    this.#policy = policy?.actions.includes('Deny') === true ? policy : undefined;
    this.#hasSameRules = isSame(write, rulesIn);
    this.#hasSameBindings = isSame(write, bindingsIn);
    this.#secretRules = (policy?.secretRules ?? [])
      .map(({ id }) => id)
      .filter((id) => id !== 'secrets.defaults');
    this.#snapshot = snapshot;
    this.#circumstances = circumstances;
  }

  get all(): readonly RefusedContent[] {
    return [...this.#all.values()];
  }

  /** The newer version must match the namespace. Where `isGained` is false, the older version matches it too. */
  add(namespaceObject: KubeObject, isGained: boolean): void {
    const policy = this.#policy;
    if (policy === undefined) return;
    const judgesAll = !this.#hasSameRules || isGained;
    if (policy.roleBindingRules.length > 0) {
      const own = judgesAll || !this.#hasSameBindings ? [policy] : [];
      const others = judgesAll ? this.#others(policy, namespaceObject) : [];
      this.#addBindings(policy, [...own, ...others], namespaceObject);
    }
    if (judgesAll && this.#secretRules.length > 0) this.#addCopies(policy, namespaceObject);
  }

  #others({ name }: CompiledPolicy, namespaceObject: KubeObject): readonly CompiledPolicy[] {
    const stored = this.#snapshot.policies.candidates('namespaces', [namespaceObject]);
    return stored.filter((other) => other.name !== name);
  }

  #addBindings(
    policy: CompiledPolicy,
    providers: readonly CompiledPolicy[],
    namespaceObject: KubeObject,
  ): void {
    for (const other of providers) {
      const bindings = other.contents.filter(({ type }) => isSameObjectType(type, roleBindingType));
      if (bindings.length === 0 || !this.#looksAt(other, namespaceObject)) continue;
      const provider = providerId('NamespacePolicy', other.name);
      for (const binding of bindings) this.#addBinding(policy, provider, binding, namespaceObject);
    }
  }

  #addBinding(
    policy: CompiledPolicy,
    provider: ProviderId,
    content: CompiledContent,
    namespaceObject: KubeObject,
  ): void {
    const { now, budget } = this.#circumstances;
    const rendered = content.render(namespaceObject, budget);
    if (rendered.kind !== 'present') return;
    const { name, body, expiresAt = Infinity } = rendered.value;
    if (expiresAt <= now.getTime()) return;
    const binding = { ...body, ...roleBindingType, metadata: { name, namespace: nameOf(namespaceObject) } };
    if (auditObject(policy, 'rolebindings', binding, namespaceObject, this.#circumstances).length > 0)
      this.#add('RoleBinding', name, provider, namespaceObject);
  }

  /** A share says the type of its copies only if that differs from the type of the source. */
  #addCopies(policy: CompiledPolicy, namespaceObject: KubeObject): void {
    const namespace = nameOf(namespaceObject);
    for (const share of this.#snapshot.shares.candidates([namespaceObject])) {
      if (!this.#looksAt(share, namespaceObject)) continue;
      const { name, type } = share.copy;
      const provider = providerId('SecretShare', share.name);
      const secret = { ...secretObjectType, type, metadata: { name, namespace } };
      const violations =
        type === '' ? [] : auditObject(policy, 'secrets', secret, namespaceObject, this.#circumstances);
      if (violations.some(({ rule }) => typeRules.includes(rule)))
        this.#add('Secret', name, provider, namespaceObject);
      else if (type === '' || this.#secretRules.some((id) => !typeRules.includes(id))) {
        this.unread.shares.add(provider);
        this.unread.namespaces.add(namespace);
      }
    }
  }

  #looksAt({ match }: Pick<CompiledPolicy, 'match'>, namespaceObject: KubeObject): boolean {
    if (this.#looks >= maxLooks) this.isComplete = false;
    else this.#looks += 1;
    return (
      this.isComplete && matchNamespace(match, namespaceObject, this.#circumstances.budget).kind === 'yes'
    );
  }

  // oxlint-disable-next-line max-params -- two callers, which have them all at hand
  #add(kind: RefusedContent['kind'], name: string, provider: ProviderId, namespaceObject: KubeObject): void {
    const id = `${kind} ${provider}`;
    const refused = this.#all.get(id) ?? {
      kind,
      provider,
      names: new Set<string>(),
      namespaces: new Set<string>(),
    };
    this.#all.set(id, refused);
    refused.names.add(name);
    refused.namespaces.add(nameOf(namespaceObject));
  }
}

function isSame(
  { before, after }: ProviderWrite,
  part: (version: ProviderWrite['after']) => unknown,
): boolean {
  return isDeepStrictEqual(part(before), part(after));
}

function bindingsIn(definition: ProviderWrite['after']): unknown {
  return definition?.kind === 'NamespacePolicy' ? definition.object.spec.contents?.roleBindings : undefined;
}

function rulesIn(definition: ProviderWrite['after']): unknown {
  if (definition?.kind !== 'NamespacePolicy') return undefined;
  const { validationActions, rbac, secrets, exceptions } = definition.object.spec;
  return [validationActions, rbac, secrets, exceptions];
}
