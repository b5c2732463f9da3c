// Waits until the control plane is usable: running processes are not enough, their work must be visible.
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from './admin-client.ts';
import type { AdminClient } from './admin-client.ts';
import type { Component } from './component.ts';
import { controllerRoles, controllersUser } from './flags.ts';

// A long timeout, because a machine that builds at the same time is slow.
const patienceMs = 60_000;
const intervalMs = 50;

export async function etcdIsReady(url: string): Promise<boolean> {
  const { status } = await send(`${url}/readyz`, {});
  return status === 200;
}

export async function apiServerIsReady(admin: AdminClient): Promise<boolean> {
  const { status } = await admin.send('GET', '/readyz');
  return status === 200;
}

/** Returns true when each controller has done the first work that tests need. */
export async function controllersAreReady(admin: AdminClient): Promise<boolean> {
  const answers = await Promise.all([
    admin.send('GET', '/api/v1/namespaces/default/serviceaccounts/default'),
    admin.send('GET', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt'),
    ...['edit', 'admin', 'view'].map((role) => aggregatedRole(admin, role)),
  ]);
  return answers.every(({ status }) => status === 200);
}

async function aggregatedRole(admin: AdminClient, name: string): Promise<{ readonly status: number }> {
  const { status, body } = await admin.send('GET', `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`);
  const isFilled = status === 200 && ((body as { rules?: unknown[] | null }).rules ?? []).length > 0;
  return { status: isFilled ? 200 : 404 };
}

/** Binds the one user of all controllers to the roles of each controller. */
export async function bindControllerRoles(admin: AdminClient): Promise<void> {
  for (const role of controllerRoles) {
    await admin.mustSend('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: `reeve-test:${role}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: controllersUser }],
    });
  }
}

/** Rejects after the timeout, or when the component ends. */
export async function waitUntilReady(component: Component, isReady: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  // The component refuses connections until it listens.
  while (!(await isReady().catch(() => false))) {
    if (!component.isRunning) throw new Error(`${component.name} ended before it was ready`);
    if (performance.now() > deadline)
      throw new Error(`${component.name} was not ready within ${patienceMs / 1000} s`);
    await sleep(intervalMs);
  }
}
