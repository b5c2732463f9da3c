// Keeps `unAuthorizedSaTokenAccess` for whole namespaces: their Pods get no token of the ServiceAccount `default`.
import type { IntentAdapter } from '../adapter.ts';

export const workloadAdapter: IntentAdapter = {
  id: 'workload',
  needs: [],
  provides: [],
  supports({ id, action }, workloads) {
    if (id !== 'unAuthorizedSaTokenAccess') return false;
    if (action !== 'Block') return 'a ServiceAccount can only withhold its token, not report its use';
    return workloads === undefined || 'a ServiceAccount cannot select Pods';
  },
  // A Pod that asks for the token in its own spec still gets it.
  // https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#opt-out-of-api-credential-automounting
  render: () => ({ serviceAccounts: [{ name: 'default', automountServiceAccountToken: false }] }),
};
