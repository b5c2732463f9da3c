// Adds what a cluster always has: the rules of aggregated ClusterRoles and default service accounts.
import { compileSelector, type LabelSelector } from '../../schema/selector.ts';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { rulesIn } from '../../base/rbac-rules.ts';
import { clusterRoleKind } from '../kinds/rbac-kinds.ts';
import { type WriteContext, timestamp } from '../write/context.ts';
import type { Controller } from './controller.ts';
import { namespaceKind, serviceAccountKind } from '../kinds/plain-kinds.ts';

export function aggregation({ store }: WriteContext): Controller {
  return {
    concerns: ({ resource }) => resource === clusterRoleKind,
    run: () => {
      for (const role of store.list(clusterRoleKind)) {
        // Two roles that gather each other settle only when each sees the latest rules of the other.
        const rules = aggregatedRules(role, store.list(clusterRoleKind));
        const isSame = rules === undefined || isDeepStrictEqual(rules, role['rules']);
        if (!isSame) store.put(clusterRoleKind, { ...role, rules }, role);
      }
      return Promise.resolve(true);
    },
  };
}

/** Returns the rules in the order of `all`; undefined for a role that does not aggregate. */
export function aggregatedRules(
  role: KubeObject,
  all: readonly KubeObject[],
): readonly JsonObject[] | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing of another form is stored
  const rule = role['aggregationRule'] as { clusterRoleSelectors?: readonly LabelSelector[] } | undefined;
  const others = all.filter(({ metadata }) => metadata.name !== role.metadata.name);
  const rules = rule?.clusterRoleSelectors?.flatMap((labels) => {
    const selector = compileSelector(labels);
    return others.filter(({ metadata }) => selector.matches(metadata.labels ?? {})).flatMap(rulesIn);
  });
  return rules?.filter((each, at) => rules.findIndex((first) => isDeepStrictEqual(first, each)) === at);
}

export function defaultAccounts({ store, now, uid }: WriteContext): Controller {
  return {
    concerns: ({ resource, type }) =>
      (resource === namespaceKind && type === 'added') ||
      (resource === serviceAccountKind && type === 'deleted'),
    run: () => {
      for (const { metadata } of store.list(namespaceKind)) {
        const namespace = metadata.name;
        if (metadata.deletionTimestamp !== undefined || namespace === undefined) continue;
        if (store.get(serviceAccountKind, namespace, 'default') !== undefined) continue;
        const own = { name: 'default', namespace, uid: uid(), creationTimestamp: timestamp(now()) };
        store.put(serviceAccountKind, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: own }, undefined);
      }
      return Promise.resolve(true);
    },
  };
}
