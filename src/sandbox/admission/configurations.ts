// The stored objects that decide about writes. Their kinds let nothing else be stored, and fill in what is left out.
import type { KubeObject } from '../../base/kube-object.ts';
import type { LabelSelector } from '../../api/namespace-policy/namespace-policy.ts';
import { notFound } from '../api-error.ts';
import { admissionKinds } from '../kinds/admission-kinds.ts';
import { namespaces } from '../kinds/plain-kinds.ts';
import type { ObjectStore } from '../store/store.ts';

export interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope?: string;
  readonly resourceNames?: readonly string[];
}

/** A webhook has `rules`, and a policy or its binding the others. */
export interface Selection {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules?: readonly Rule[];
  readonly resourceRules?: readonly Rule[];
  readonly excludeResourceRules?: readonly Rule[];
}

export interface Conditional {
  readonly matchConditions?: readonly { readonly expression: string }[];
  readonly failurePolicy?: string;
}

export interface ClientConfig {
  readonly url?: string;
  readonly service?: { name: string; namespace: string; path?: string; port?: number };
  readonly caBundle?: string;
}

export interface Webhook extends Selection, Conditional {
  readonly name: string;
  readonly clientConfig: ClientConfig;
  readonly timeoutSeconds?: number;
  readonly reinvocationPolicy?: string;
}

interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface Policy extends KubeObject {
  readonly spec: Conditional & {
    readonly paramKind?: object;
    readonly matchConstraints: Selection;
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
    readonly validations?: readonly Validation[];
  };
}

export interface Binding extends KubeObject {
  readonly spec: {
    readonly policyName: string;
    readonly matchResources?: Selection;
    readonly validationActions: readonly string[];
  };
}

interface Configurations {
  readonly mutatingwebhookconfigurations: { readonly webhooks?: readonly Webhook[] };
  readonly validatingwebhookconfigurations: { readonly webhooks?: readonly Webhook[] };
  readonly validatingadmissionpolicies: Policy;
  readonly validatingadmissionpolicybindings: Binding;
}

/** In the order of their names. */
export function configurations<P extends keyof Configurations>(
  store: ObjectStore,
  plural: P,
): readonly Configurations[P][] {
  const ofKind = admissionKinds.filter((kind) => kind.plural === plural).flatMap((kind) => store.list(kind));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kinds/admission-kinds.ts lets nothing else be stored
  return ofKind as readonly unknown[] as readonly Configurations[P][];
}

export function webhooksOf(
  store: ObjectStore,
  plural: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations',
): readonly Webhook[] {
  return configurations(store, plural).flatMap(({ webhooks = [] }) => webhooks);
}

export function storedNamespace(store: ObjectStore, name: string): KubeObject {
  const namespace = store.get(namespaces, undefined, name);
  if (namespace === undefined) throw notFound(namespaces, name);
  return namespace;
}
