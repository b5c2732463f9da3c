// Reads the stored webhook configurations, policies and bindings, which their kinds have validated.
import type { LabelSelector } from '../../schema/selector.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { notFoundError } from '../api-error.ts';
import { admissionKinds } from '../kinds/admission-kinds.ts';
import { namespaceKind } from '../kinds/plain-kinds.ts';
import type { SandboxStore } from '../store.ts';

export interface RuleWithOperations {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope?: string;
  readonly resourceNames?: readonly string[];
}

/** A webhook has `rules`; a policy and its binding have the other two lists. */
export interface WriteSelector {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules?: readonly RuleWithOperations[];
  readonly resourceRules?: readonly RuleWithOperations[];
  readonly excludeResourceRules?: readonly RuleWithOperations[];
}

export interface WithMatchConditions {
  readonly matchConditions?: readonly { readonly expression: string }[];
  readonly failurePolicy?: string;
  /** Only policies have parameters. */
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string };
}

export interface ClientConfig {
  readonly url?: string;
  readonly service?: { name: string; namespace: string; path?: string; port?: number };
  readonly caBundle?: string;
}

export interface Webhook extends WriteSelector, WithMatchConditions {
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

export interface AdmissionPolicy extends KubeObject {
  readonly spec: WithMatchConditions & {
    readonly matchConstraints: WriteSelector;
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
    readonly validations?: readonly Validation[];
  };
}

export interface AdmissionPolicyBinding extends KubeObject {
  readonly spec: {
    readonly policyName: string;
    readonly matchResources?: WriteSelector;
    readonly validationActions: readonly string[];
    readonly paramRef?: ParameterReference;
  };
}

/** Either a name or a selector. */
interface ParameterReference {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}

interface Configurations {
  readonly mutatingwebhookconfigurations: { readonly webhooks?: readonly Webhook[] };
  readonly validatingwebhookconfigurations: { readonly webhooks?: readonly Webhook[] };
  readonly validatingadmissionpolicies: AdmissionPolicy;
  readonly validatingadmissionpolicybindings: AdmissionPolicyBinding;
}

/** Returns the configurations in the order of their names. */
export function storedConfigurations<P extends keyof Configurations>(
  store: SandboxStore,
  plural: P,
): readonly Configurations[P][] {
  const ofKind = admissionKinds.filter((kind) => kind.plural === plural).flatMap((kind) => store.list(kind));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kinds/admission-kinds.ts lets nothing else be stored
  return ofKind as readonly unknown[] as readonly Configurations[P][];
}

export function webhooksOf(
  store: SandboxStore,
  plural: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations',
): readonly Webhook[] {
  return storedConfigurations(store, plural).flatMap(({ webhooks = [] }) => webhooks);
}

export function storedNamespace(store: SandboxStore, name: string): KubeObject {
  const namespace = store.get(namespaceKind, undefined, name);
  if (namespace === undefined) throw notFoundError(namespaceKind, name);
  return namespace;
}
