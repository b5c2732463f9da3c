// A control plane with the guard, and the users who act in the tests of the guard.
import { expect, vi } from 'vitest';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { startControlPlane } from '../cluster/control-plane.ts';
import type { ControlPlane, ControlPlaneOptions } from '../cluster/control-plane.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import type { KubectlOptions } from '../support/kubectl.ts';
import { markedManifest } from './guarded-objects.ts';
import { reconcilerUser } from './support/stage.ts';

export const patience = { timeout: 60_000, interval: 200 };

export interface GuardScene {
  readonly plane: ControlPlane;
  /** A member of system:masters. */
  readonly administrator: KubectlOptions;
  readonly reeve: KubectlOptions;
  /** The administrator of its namespaces. Has no rights elsewhere. */
  readonly tenant: KubectlOptions;
}

/** Creates namespaces that no webhook and no reconciler touches. */
export async function startGuardScene(options: ControlPlaneOptions, namespace: string): Promise<GuardScene> {
  const plane = await startControlPlane({ audit: false, ...options });
  const administrator = { kubeconfig: plane.kubeconfig };
  await mustKubectl(['apply', '-f', 'manifests/crds', '-f', 'manifests/install'], administrator);
  const reeve = { kubeconfig: await plane.tokenKubeconfig('reeve-system', 'reeve-reconciler') };
  const tenant = { kubeconfig: await plane.clientKubeconfig('tenant') };
  const scene = { plane, administrator, reeve, tenant };
  await makeTenantNamespace(scene, namespace);
  await guardStands(scene, namespace);
  return scene;
}

export async function makeTenantNamespace(scene: GuardScene, name: string): Promise<void> {
  const { administrator, tenant } = scene;
  await mustKubectl(['create', 'namespace', name], administrator);
  const binding = ['create', 'rolebinding', 'tenant', '-n', name, '--clusterrole=admin', '--user=tenant'];
  await mustKubectl(binding, administrator);
  await vi.waitFor(() => mustKubectl(['auth', 'can-i', 'delete', 'secrets', '-n', name], tenant), patience);
}

/** The API server notices a policy a moment after it is stored. */
async function guardStands({ administrator }: GuardScene, namespace: string): Promise<void> {
  const input = markedManifest('configmap', { name: 'probe', namespace });
  await vi.waitFor(async () => {
    const { code } = await kubectl(['create', '--dry-run=server', '-f', '-'], { ...administrator, input });
    expect(code).toBe(1);
  }, patience);
}

/** Applies objects as Reeve does. */
export async function apply(who: KubectlOptions, input: string): Promise<void> {
  await mustKubectl(['apply', '--server-side', '--field-manager=reeve', '-f', '-'], { ...who, input });
}

/** Returns true when the object was deleted before the deadline. */
export async function isGone({ administrator }: GuardScene, what: readonly string[]): Promise<boolean> {
  await vi.waitFor(async () => {
    const { stderr } = await kubectl(['get', ...what], administrator);
    expect(stderr).toContain('NotFound');
  }, patience);
  return true;
}

/** The beginning of every message of the guard. */
export const guardSays =
  "ValidatingAdmissionPolicy 'reeve-guard' with binding 'reeve-guard' denied request: ";

/** Returns the refusal that the command printed. Fails when the command was not refused. */
export async function refusal(args: readonly string[], who: KubectlOptions): Promise<string> {
  const { code, stderr } = await kubectl(args, who);
  expect(code, stderr).toBe(1);
  return stderr;
}

/** Creates a ConfigMap `kept` with the marks of Reeve. */
export async function makeKept({ kubeconfig }: ClusterAccess, namespace: string): Promise<void> {
  const input = markedManifest('configmap', { name: 'kept', namespace });
  const asReeve = { kubeconfig, as: reconcilerUser, asGroup: ['system:masters'], input };
  await mustKubectl(['create', '-f', '-'], asReeve);
}
