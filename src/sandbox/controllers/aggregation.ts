// Keeps the rules of ClusterRoles that collect those of others.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
import { isDeepStrictEqual } from 'node:util';
import { aggregatedRules } from '../access/aggregation.ts';
import type { WriteContext } from '../write/context.ts';
import type { Controller } from './loop.ts';

export function aggregation({ store, kinds }: WriteContext): Controller {
  return {
    concerns: ({ resource }) => resource.plural === 'clusterroles',
    run: () => {
      const clusterRoles = kinds.find('rbac.authorization.k8s.io', 'v1', 'clusterroles');
      const roles = clusterRoles === undefined ? [] : store.list(clusterRoles);
      for (const role of roles) {
        const rules = aggregatedRules(role, roles);
        if (clusterRoles === undefined || rules === undefined || isDeepStrictEqual(rules, role['rules']))
          continue;
        store.put(clusterRoles, { ...role, rules }, role);
      }
      return Promise.resolve(true);
    },
  };
}
