// Creates policies and shares that provide objects, for tests of the reconciler.
import type { KubeObject } from '../../src/base/metadata.ts';
import type { Harness } from './reconcile-harness.ts';

/** Matches namespaces with the label tier=team. */
export const teams = { namespaceSelector: { matchLabels: { tier: 'team' } } };
export const team = { tier: 'team' };

export function bindingOf(fields: object = {}): object {
  return {
    name: 'devs',
    roleRef: { kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'Group', name: 'devs' }],
    ...fields,
  };
}

export function quotaOf(spec: object = { hard: { pods: '5' } }, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'team', ...metadata }, spec };
}

/** A policy that gives every team a RoleBinding. */
export function bindingPolicy(fields: object = {}, binding: object = {}): object {
  return { match: teams, contents: { roleBindings: [bindingOf(binding)] }, ...fields };
}

export function quotaPolicy(spec?: object, fields: object = {}): object {
  return { match: teams, contents: { resources: [quotaOf(spec)] }, ...fields };
}

/** A share of reeve-shared/regcred for every team. */
export function shareOf(fields: object = {}): object {
  return { source: { namespace: 'reeve-shared', name: 'regcred' }, targets: teams, ...fields };
}

/** The marks on the objects of policy `p`. */
export const ours = {
  metadata: {
    labels: { 'app.kubernetes.io/managed-by': 'reeve' },
    annotations: { 'reeve.dev/owner': 'NamespacePolicy/p' },
  },
};

/** Resolves when policy `p` exists, namespaces of teams exist, and the reconciler has nothing left to do. */
export async function settledWith(
  harness: Harness,
  spec: object,
  namespaces: readonly string[],
): Promise<Harness> {
  for (const name of namespaces) harness.namespace(name, team);
  harness.policy('p', spec);
  harness.start();
  await harness.settle();
  return harness;
}

/** A RoleBinding of another user, with the name of the one that `bindingPolicy` provides. */
export function strangersBinding(metadata: object = {}, role = 'edit') {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'devs', namespace: 'a', labels: {}, ...metadata },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', name: 'them' }],
  };
}

/** Like `settledWith`, where this object exists before Reeve starts. */
export async function settledBeside(harness: Harness, object: KubeObject): Promise<Harness> {
  harness.namespace('a', team);
  harness.memory.put(object);
  return await settledWith(harness, bindingPolicy(), ['a']);
}
