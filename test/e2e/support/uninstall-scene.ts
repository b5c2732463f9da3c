// A cluster on which Reeve provides objects before it is uninstalled. Checks what Reeve leaves and whether it blocks anything.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { startReeve, type Reeve } from '../../support/reeve.ts';
import { until } from '../../support/until.ts';
import { inTime } from './in-time.ts';
import { configMap, namespaceObject, policy, roleBinding, share, source, type Ref } from './objects.ts';
import { Stage } from './stage.ts';

const collections = [
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
];

export class UninstallScene implements AsyncDisposable {
  readonly stage: Stage;
  readonly reeve: Reeve;
  readonly namespaces: readonly string[];
  readonly #name: string;
  readonly #tried: string[] = [];

  private constructor(stage: Stage, reeve: Reeve, name: string, count: number) {
    this.stage = stage;
    this.reeve = reeve;
    this.#name = name;
    this.namespaces = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  }

  /**
   * Installs Reeve, and waits until each namespace has a RoleBinding, a copy of a Secret (at most two copies may be
   * deleted at once) and a ConfigMap that is to stay.
   */
  static async begin(cluster: ClusterAccess, name: string, count: number): Promise<UninstallScene> {
    await installReeve(cluster);
    const scene = new UninstallScene(new Stage(cluster, name), await startReeve(cluster), name, count);
    try {
      await scene.#fill();
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
    return scene;
  }

  get roleBindings(): readonly Ref[] {
    return this.#inAll('RoleBinding', this.#name);
  }

  get copies(): readonly Ref[] {
    return this.#inAll('Secret', this.#name);
  }

  get settings(): readonly Ref[] {
    return this.#inAll('ConfigMap', 'settings');
  }

  /** Returns the owner of each provided object. */
  async owners(): Promise<readonly string[]> {
    return await this.stage.ownersOf(...this.roleBindings, ...this.copies, ...this.settings);
  }

  async uids(): Promise<readonly (string | undefined)[]> {
    return await this.stage.uidsOf(...this.roleBindings, ...this.copies, ...this.settings);
  }

  /** Returns true when a namespace still has the condition Ready, which nothing would update any more. */
  async hasConditions(): Promise<boolean> {
    const namespaces = await this.stage.kubectl('get', 'namespaces', '-o=json');
    return namespaces.includes('reeve.dev/Ready');
  }

  /** Returns the names of the parts of Reeve that still exist and can block writes. */
  async parts(): Promise<readonly string[]> {
    const { admin } = this.stage.cluster;
    const lists = await Promise.all(collections.map((path) => admin.mustSend('GET', path)));
    const namespace = await admin.send('GET', '/api/v1/namespaces/reeve-system');
    const names = lists.flatMap((list) =>
      (list as { readonly items: readonly { readonly metadata: { readonly name: string } }[] }).items.map(
        ({ metadata }) => metadata.name,
      ),
    );
    return [
      ...names.filter((name) => name.includes('reeve')),
      ...(namespace.status === 404 ? [] : ['reeve-system']),
    ];
  }

  /**
   * Creates a namespace, fills it and deletes it, as people do. After an interrupted uninstall, waits until the garbage
   * collector has removed the webhooks.
   */
  async expectFree(mark: 'with the mark of Reeve' | 'without it'): Promise<void> {
    const { admin } = this.stage.cluster;
    const name = `${this.#name}-free-${this.#tried.length}`;
    const labels = mark === 'without it' ? {} : { 'app.kubernetes.io/managed-by': 'reeve' };
    const path = `/api/v1/namespaces/${name}`;
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${name}/rolebindings`;
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    this.#tried.push(name);
    const created = async (): Promise<number> =>
      (await admin.send('POST', '/api/v1/namespaces', { metadata: { name } })).status;
    await inTime(created).toBe(201);
    await admin.mustSend('POST', `${path}/secrets`, { metadata: { name: 's', labels } });
    await admin.mustSend('POST', rbac, { metadata: { name: 'r', labels }, roleRef });
    await admin.mustSend('DELETE', path);
  }

  /** Deletes the namespaces. Fails unless these namespaces and those of `expectFree` are deleted completely. */
  async expectEnd(): Promise<void> {
    const { admin } = this.stage.cluster;
    const paths = [...this.namespaces, ...this.#tried].map((name) => `/api/v1/namespaces/${name}`);
    for (const path of paths) await admin.send('DELETE', path);
    const codes = async (): Promise<readonly number[]> =>
      await Promise.all(paths.map(async (path) => (await admin.send('GET', path)).status));
    await inTime(codes).toEqual(paths.map(() => 404));
  }

  /** Kills Reeve as the loss of its machine does: Reeve cleans up nothing. */
  async killReeve(): Promise<void> {
    this.reeve.kill('SIGKILL');
    await this.reeve.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reeve[Symbol.asyncDispose]();
  }

  #inAll(kind: Ref['kind'], name: string): readonly Ref[] {
    return this.namespaces.map((namespace) => ({ kind, name, namespace }));
  }

  async #fill(): Promise<void> {
    const name = this.#name;
    const selector = { namespaceSelector: { matchLabels: { uninstall: name } } };
    const from = { namespace: 'reeve-shared', name };
    await this.stage.apply(...this.namespaces.map((each) => namespaceObject(each, { uninstall: name })));
    await this.stage.apply(
      source(name, { token: 'uninstall-canary' }),
      policy(name, {
        match: selector,
        contents: { roleBindings: [roleBinding(name, 'readers')] },
        maxDeletions: 2,
      }),
      share(name, { source: from, targets: selector, target: { name }, maxDeletions: 2 }),
      policy(`${name}-orphan`, {
        match: selector,
        contents: { resources: [configMap('settings', { by: 'reeve' })] },
        deletionPolicy: 'Orphan',
      }),
    );
    const wanted = [`NamespacePolicy/${name}`, `SecretShare/${name}`, `NamespacePolicy/${name}-orphan`];
    const expected = wanted.flatMap((owner) => this.namespaces.map(() => owner));
    await until(
      async () => (await this.owners()).join() === expected.join(),
      async () => `all is provided: ${(await this.owners()).join()}; ${this.reeve.output.slice(-3000)}`,
    );
  }
}
