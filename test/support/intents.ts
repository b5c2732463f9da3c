// Creates intents, bindings and contexts for tests of the engine.
import { renderProblem } from '../../src/base/problem.ts';
import type { KubeObject, ObjectMeta } from '../../src/base/metadata.ts';
import type { Intent, IntentAdapter } from '../../src/policy/intents/adapter.ts';
import { intentAdapters } from '../../src/policy/intents/adapters.ts';
import { FormCache } from '../../src/policy/intents/form-cache.ts';
import { anyInstall, type Install } from '../../src/policy/terms/install.ts';
import {
  adapterSettings,
  adapterStates,
  type IntentContext,
} from '../../src/policy/intents/intent-context.ts';
import type { ClusterSnapshot, StoredBinding } from '../../src/policy/compile/snapshot.ts';
import {
  loadIntent,
  loadSubmitted,
  type ProviderDefinition,
  type ProviderLoad,
} from '../../src/policy/compile/load-provider.ts';
import type { BindingKind } from '../../src/api/kinds.ts';

export function intentObject(name: string, spec: unknown): KubeObject {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'SecurityIntent', metadata: { name }, spec };
}

export function anIntent(name: string, spec: unknown): Intent {
  const load = loadIntent(intentObject(name, spec));
  if (!load.ok) throw new Error(load.problems.map(renderProblem).join('; '));
  return load.value;
}

interface ContextOptions {
  readonly adapters?: readonly IntentAdapter[];
  readonly offered?: readonly string[];
  /** Kinds that the API server does not serve. */
  readonly unserved?: readonly string[];
  readonly tlsScanImage?: string;
}

export function intentContext(
  intents: Readonly<Record<string, unknown>> = {},
  { adapters = intentAdapters, offered, unserved = [], tlsScanImage }: ContextOptions = {},
): IntentContext {
  const install: Install = {
    ...anyInstall,
    tlsScanImage,
    adapters: offered === undefined ? undefined : new Set(offered),
  };
  return {
    intents: new Map(Object.entries(intents).map(([name, spec]) => [name, anIntent(name, spec)])),
    adapters: adapterStates(adapters, install, ({ kind }) => !unserved.includes(kind)),
    settings: adapterSettings(install),
    cluster: undefined,
    forms: new FormCache(),
  };
}

export function clusterBinding(name: string, spec: object): StoredBinding {
  return {
    kind: 'ClusterSecurityIntentBinding',
    object: bindingObject('ClusterSecurityIntentBinding', { name }, spec),
  };
}

export function tenantBinding(namespace: string, name: string, spec: object): StoredBinding {
  return {
    kind: 'SecurityIntentBinding',
    object: bindingObject('SecurityIntentBinding', { name, namespace }, spec),
  };
}

function bindingObject(kind: BindingKind, metadata: ObjectMeta, spec: object): KubeObject {
  return { apiVersion: 'reeve.dev/v1alpha1', kind, metadata, spec };
}

export function loadStoredBinding({ kind, object }: StoredBinding, context: IntentContext): ProviderLoad {
  return loadSubmitted(kind, object, context);
}

/** Returns the definition of a binding that has the form of a policy. */
export function definitionOf(binding: StoredBinding, context: IntentContext) {
  const load = loadStoredBinding(binding, context);
  if (!load.ok) throw new Error(load.problems.map(renderProblem).join('; '));
  return policyForm(load.value);
}

function policyForm(definition: ProviderDefinition) {
  if (definition.kind !== 'NamespacePolicy') throw new Error('not a policy');
  if (definition.intents === undefined) throw new Error('not a binding');
  return { ...definition, intents: definition.intents };
}

/** Returns the snapshot with these bindings stored, whether or not they are in its policies. */
export function withBindings(
  snapshot: ClusterSnapshot,
  context: IntentContext,
  bindings: readonly StoredBinding[],
): ClusterSnapshot {
  return { ...snapshot, intents: { context, bindings: () => bindings } };
}
