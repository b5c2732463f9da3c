// The guard on a real API server: only Reeve writes the objects that Reeve keeps, and all other writes pass.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import type { KubectlOptions } from '../support/kubectl.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { apply, guardSays, patience, refusal, startGuardScene, type GuardScene } from './guard-scene.ts';
import { collectionOf, guardedKinds, manifest, markedManifest, markLabel, owner } from './guarded-objects.ts';
import type { GuardedKind } from './guarded-objects.ts';

const namespace = 'guarded';

interface Attempt {
  readonly attempt: string;
  readonly args: (kind: GuardedKind) => readonly string[];
  readonly input?: (kind: GuardedKind) => string;
}

function metadataPatch(metadata: unknown): string {
  return JSON.stringify({ metadata });
}

function patching(type: string, patch: string): Attempt['args'] {
  return (kind) => ['patch', kind, 'kept', `--type=${type}`, '-p', patch];
}

/** Attempts to set the mark on objects that Reeve does not own. */
const marking: readonly Attempt[] = [
  {
    attempt: 'creates a marked object',
    args: () => ['create', '-f', '-'],
    input: (kind) => markedManifest(kind, { name: 'new', namespace }),
  },
  {
    attempt: 'creates a marked object with a generated name',
    args: () => ['create', '-f', '-'],
    input: (kind) => markedManifest(kind, { generateName: 'new-', namespace }),
  },
  {
    attempt: 'applies a marked object',
    args: () => ['apply', '--server-side', '-f', '-'],
    input: (kind) => markedManifest(kind, { name: 'new', namespace }),
  },
  { attempt: 'marks an object of their own', args: (kind) => ['label', kind, 'own', `${markLabel}=reeve`] },
];

const touched = { labels: { touched: 'yes' } };
const addLabel = JSON.stringify([{ op: 'add', path: '/metadata/labels/touched', value: 'yes' }]);
const owners = [
  { apiVersion: 'v1', kind: 'ConfigMap', name: 'own', uid: '5b5c3a52-7f0e-4a53-9d0b-000000000000' },
];
const replacing = (metadata: object, make = markedManifest): Pick<Attempt, 'args' | 'input'> => ({
  args: () => ['replace', '-f', '-'],
  input: (kind) => make(kind, { name: 'kept', namespace, ...metadata }),
});

const changing: readonly Attempt[] = [
  { attempt: 'replaces it', ...replacing(touched) },
  { attempt: 'replaces it by an object without the mark', ...replacing({}, manifest) },
  { attempt: 'patches it (merge)', args: patching('merge', metadataPatch(touched)) },
  { attempt: 'patches it (strategic)', args: patching('strategic', metadataPatch(touched)) },
  { attempt: 'patches it (JSON)', args: patching('json', addLabel) },
  {
    attempt: 'applies a change with the field manager of Reeve',
    args: () => ['apply', '--server-side', '--force-conflicts', '--field-manager=reeve', '-f', '-'],
    input: (kind) => markedManifest(kind, { name: 'kept', namespace, ...touched }),
  },
  { attempt: 'removes the mark', args: (kind) => ['label', kind, 'kept', `${markLabel}-`] },
  { attempt: 'changes the mark', args: (kind) => ['label', '--overwrite', kind, 'kept', `${markLabel}=me`] },
  { attempt: 'removes the owner', args: (kind) => ['annotate', kind, 'kept', 'reeve.dev/owner-'] },
  {
    attempt: 'adds an ownerReference, so that the garbage collector deletes it',
    args: patching('merge', metadataPatch({ ownerReferences: owners })),
  },
  {
    attempt: 'changes more than finalizers',
    args: patching('merge', metadataPatch({ ...touched, finalizers: ['example.com/held'] })),
  },
  { attempt: 'deletes it', args: (kind) => ['delete', kind, 'kept', '--wait=false'] },
  {
    attempt: 'deletes the whole collection',
    args: (kind) => [
      'delete',
      '--raw',
      `${collectionOf(kind, namespace)}?labelSelector=${markLabel}%3Dreeve`,
    ],
  },
];

const onEachKind = (attempts: readonly Attempt[]): readonly (Attempt & { readonly kind: GuardedKind })[] =>
  guardedKinds.flatMap((kind) => attempts.map((each) => ({ kind, ...each })));

/** Users to whom RBAC grants everything. */
const others: readonly (Omit<KubectlOptions, 'kubeconfig'> & { readonly who: string })[] = [
  { who: 'a cluster administrator' },
  { who: 'the webhook', as: 'system:serviceaccount:reeve-system:reeve-webhook' },
  { who: 'an account that is called so elsewhere', as: 'system:serviceaccount:guarded:reeve-reconciler' },
  { who: 'a controller', as: 'system:serviceaccount:kube-system:generic-garbage-collector' },
  { who: 'the controller manager', as: 'system:kube-controller-manager' },
  { who: 'a group of a similar name', as: 'someone', asGroup: ['reeve:break-glass-2'] },
];

/** Impersonation replaces the caller's user and groups, so break-glass requires the right to impersonate both again. */
const emergencyRights = [
  { apiGroups: [''], resources: ['users'], resourceNames: ['administrator'], verbs: ['impersonate'] },
  { apiGroups: [''], resources: ['groups'], resourceNames: ['administrators'], verbs: ['impersonate'] },
];

describeControllers('the guard', { timeout: 120_000 }, () => {
  let scene: GuardScene;

  beforeAll(async () => {
    scene = await startGuardScene({}, namespace);
    for (const kind of guardedKinds) {
      await apply(scene.reeve, markedManifest(kind, { name: 'kept', namespace }));
      await apply(scene.tenant, manifest(kind, { name: 'own', namespace }));
    }
  }, 180_000);

  afterAll(() => scene.plane.stop());

  async function attemptOf(each: Attempt & { readonly kind: GuardedKind }): Promise<string> {
    const versions = await versionsOf(each.kind);
    const input = each.input === undefined ? {} : { input: each.input(each.kind) };
    const said = await refusal(['-n', namespace, ...each.args(each.kind)], { ...scene.tenant, ...input });
    expect(await versionsOf(each.kind)).toBe(versions);
    return said;
  }

  async function versionsOf(kind: GuardedKind): Promise<string> {
    const columns = '-o=custom-columns=name:.metadata.name,version:.metadata.resourceVersion';
    return await mustKubectl(['get', kind, '-n', namespace, columns], scene.administrator);
  }

  it.each(onEachKind(marking))('the guard refuses a tenant who $attempt: $kind', async (each) => {
    expect(await attemptOf(each)).toContain(`only Reeve sets it: leave it out`);
  });

  it.each(onEachKind(changing))('the guard refuses a tenant who $attempt: $kind', async (each) => {
    const said = await attemptOf(each);
    expect(said).toMatch(/Reeve keeps (Secret|ConfigMap|RoleBinding) kept for NamespacePolicy\/guarded/);
    expect(said).toContain(`change or delete that instead (kubectl edit ${owner.toLowerCase()})`);
  });

  it.each(guardedKinds)('the guard leaves a tenant what is its own: %s', async (kind) => {
    await apply(
      scene.tenant,
      manifest(kind, { name: 'free', namespace, labels: { [markLabel]: 'somebody' } }),
    );
    await mustKubectl(['label', kind, 'free', '-n', namespace, 'touched=yes'], scene.tenant);
    const removed = await mustKubectl(['delete', kind, 'free', '-n', namespace], scene.tenant);
    expect(removed).toContain('"free" deleted');
  });

  it.each(guardedKinds)('Reeve may make, change, release, take over and delete: %s', async (kind) => {
    const passing = { name: 'passing', namespace };
    await apply(scene.reeve, markedManifest(kind, passing));
    await apply(scene.reeve, markedManifest(kind, { ...passing, ...touched }));
    const release = metadataPatch({ labels: { [markLabel]: null } });
    await mustKubectl(
      ['patch', kind, 'passing', '-n', namespace, '--type=merge', '-p', release],
      scene.reeve,
    );
    await mustKubectl(['label', kind, 'passing', '-n', namespace, 'reeve.dev/adopt=true'], scene.tenant);
    await apply(scene.reeve, markedManifest(kind, passing));
    const removed = await mustKubectl(['delete', kind, 'passing', '-n', namespace], scene.reeve);
    expect(removed).toContain('"passing" deleted');
  });

  it.each(others)('the guard refuses $who', async ({ as, asGroup = [] }) => {
    const impersonation = as === undefined ? {} : { as, asGroup: [...asGroup, 'system:masters'] };
    const who = { ...scene.administrator, ...impersonation };
    // The jail also binds the webhook's account, and either of the two may refuse first.
    const said =
      as?.endsWith(':reeve-webhook') === true ? /ValidatingAdmissionPolicy 'reeve-\w+'/ : guardSays;
    const kept = ['configmap', 'kept', '-n', namespace];
    expect(await refusal(['label', ...kept, 'touched=yes'], who)).toMatch(said);
    expect(await refusal(['delete', ...kept, '--wait=false'], who)).toMatch(said);
  });

  it.each(['namespace/default', 'clusterrole/view', 'crd/secretshares.reeve.dev'])(
    '%s cannot have the mark',
    async (what) => {
      expect(await refusal(['label', what, `${markLabel}=reeve`], scene.administrator)).toContain(guardSays);
    },
  );

  it('the guard refuses the mark on policies and shares, which belong to their authors', async () => {
    const metadata = { name: 'marked', labels: { [markLabel]: 'reeve' } };
    const input = JSON.stringify({
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'NamespacePolicy',
      metadata,
      spec: {},
    });
    expect(await refusal(['create', '-f', '-'], { ...scene.administrator, input })).toContain(guardSays);
  });

  it('a Pod does not get the mark from its Binding', async () => {
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const containers = [{ name: 'c', image: 'none' }];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bound' }, spec: { containers } };
    const { admin } = scene.plane;
    expect((await admin.send('POST', pods, pod)).status).toBe(201);
    const target = { kind: 'Node', name: 'none' };
    const binding = (labels: object): Promise<{ readonly status: number; readonly body: unknown }> =>
      admin.send('POST', `${pods}/bound/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'bound', labels },
        target,
      });
    const { status, body } = await binding({ [markLabel]: 'reeve' });
    expect(status).toBe(403);
    expect(JSON.stringify(body)).toContain(guardSays);
    expect((await binding({ touched: 'yes' })).status).toBe(201);
  });

  it('an administrator passes with break-glass', async () => {
    const broken = ['configmap', 'broken', '-n', namespace];
    await apply(scene.reeve, markedManifest('configmap', { name: 'broken', namespace }));
    await grantEmergency();
    const kubeconfig = await scene.plane.clientKubeconfig('administrator', ['administrators']);
    // API servers notice granted rights a moment later.
    await vi.waitFor(async () => {
      expect(await refusal(['delete', ...broken], { kubeconfig })).toContain(guardSays);
    }, patience);
    const emergency = { kubeconfig, as: 'administrator', asGroup: ['administrators', 'reeve:break-glass'] };
    await vi.waitFor(() => mustKubectl(['delete', ...broken], emergency), patience);
    const outsider = { kubeconfig: scene.tenant.kubeconfig, as: 'tenant', asGroup: ['reeve:break-glass'] };
    const { stderr } = await kubectl(['delete', 'configmap', 'kept', '-n', namespace], outsider);
    expect(stderr).toContain('cannot impersonate');
  });

  /** Lets the group do everything in namespaces, and add the break-glass group by impersonation. */
  async function grantEmergency(): Promise<void> {
    const group = '--group=administrators';
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
    const input = JSON.stringify({ ...role, metadata: { name: 'be-oneself' }, rules: emergencyRights });
    await mustKubectl(['create', '-f', '-'], { ...scene.administrator, input });
    for (const name of ['admin', 'be-oneself', 'reeve-break-glass']) {
      await mustKubectl(
        ['create', 'clusterrolebinding', `test-${name}`, `--clusterrole=${name}`, group],
        scene.administrator,
      );
    }
  }
});
