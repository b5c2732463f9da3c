// Intents, adapters and an install for tests of what the author of a binding must be allowed to do.
import type { IntentAdapter } from '../../../../src/policy/intents/adapter.ts';
import type { IntentContext } from '../../../../src/policy/intents/intent-context.ts';
import type { StoredBinding } from '../../../../src/policy/compile/snapshot.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { unlimitedBudget, type Budget } from '../../../../src/policy/terms/budget.ts';
import type { Decision } from '../../../../src/policy/terms/review.ts';
import { aSnapshot, knownNamespace, testInstall, writeDecision } from '../../../support/engine.ts';
import { intentContext, withBindings } from '../../../support/intents.ts';

export const enforce = 'pod-security.kubernetes.io/enforce';
const intents = {
  escape: { id: 'escapeToHost' },
  dns: { id: 'dnsManipulation' },
  token: { id: 'unAuthorizedSaTokenAccess' },
  pfa: { id: 'exploitPFA' },
  patch: { id: 'virtualPatch' },
};
export const engineKind = { apiVersion: 'v1', kind: 'ConfigMap' };

/** An engine that may not be installed. */
export const engine: IntentAdapter = {
  id: 'engine',
  needs: [engineKind],
  provides: [engineKind],
  supports: ({ id }) => id === 'exploitPFA',
  render: ({ name }) => ({ resources: [{ ...engineKind, metadata: { name } }] }),
};

export function contextWith(options: Parameters<typeof intentContext>[1] = {}): IntentContext {
  const basic = intentContext(intents, { offered: ['pod-security', 'network', 'workload'] });
  const extra = intentContext(intents, { adapters: [engine], ...options });
  return { ...basic, adapters: [...basic.adapters, ...extra.adapters] };
}
export const context = contextWith();
export const install = {
  ...testInstall,
  resourceKinds: [engineKind, { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' }],
  resourceOf: ({ kind }: { readonly kind: string }) => `${kind.toLowerCase().replace(/y$/, 'ie')}s`,
};

interface Around {
  readonly given?: IntentContext;
  readonly before?: StoredBinding;
  readonly policies?: Parameters<typeof aSnapshot>[0];
  readonly shares?: Parameters<typeof aSnapshot>[2];
  readonly namespaces?: readonly KubeObject[];
  readonly budget?: Budget;
  readonly allowed?: typeof install;
}

export function decisionOn({ object }: StoredBinding, around: Around = {}): Decision {
  const {
    given = context,
    before,
    policies = [],
    shares = [],
    namespaces = [knownNamespace('shop')],
  } = around;
  const { budget = unlimitedBudget, allowed = install } = around;
  const snapshot = withBindings(aSnapshot(policies, namespaces, shares), given, []);
  return writeDecision({ oldObject: before?.object, object }, snapshot, { budget, install: allowed });
}

export function rightsIn({ rights }: Decision): readonly string[] {
  return rights.map(
    ({ verb, resource, name, namespace, path }) =>
      `${verb} ${resource}${name === undefined ? '' : `/${name}`} in ${namespace ?? 'all'}: ${path}`,
  );
}
