// A deleted policy or share is removed, whatever happens to its namespaces, its source, itself or its kind.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { kubectl } from '../support/kubectl.ts';
import { startReeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject, policy, source, type Ref } from './support/objects.ts';
import { provider, providerSource, type Provider } from './support/provider.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const labelled = (group: string): object => ({ namespaceSelector: { matchLabels: { goes: group } } });

function both(name: string): readonly [Provider, Provider] {
  return [provider('NamespacePolicy', name), provider('SecretShare', name)];
}

/** Two namespaces, and a policy and a share that provide an object in both of them. */
class Scene {
  readonly namespaces: readonly [string, string];
  readonly providers: readonly [Provider, Provider];
  readonly #stage: Stage;

  constructor(stage: Stage, group: string) {
    this.#stage = stage;
    this.namespaces = [`ho-go-${group}-1`, `ho-go-${group}-2`];
    this.providers = both(`ho-go-${group}`);
  }

  static async begin(stage: Stage, group: string): Promise<Scene> {
    const scene = new Scene(stage, group);
    await stage.apply(...scene.namespaces.map((name) => namespaceObject(name, { goes: group })));
    await stage.apply(...scene.providers.map((each) => each.write(labelled(group))));
    await inTime(() => stage.ownersOf(...scene.objects)).toEqual(
      scene.providers.flatMap(({ ref }) => scene.namespaces.map(() => `${ref.kind}/${ref.name}`)),
    );
    return scene;
  }

  get owners(): readonly [Ref, Ref] {
    const [{ ref: first }, { ref: second }] = this.providers;
    return [first, second];
  }

  get objects(): readonly Ref[] {
    return this.providers.flatMap(({ objectIn }) => this.namespaces.map(objectIn));
  }

  objectsIn(namespace: string): readonly Ref[] {
    return this.providers.map(({ objectIn }) => objectIn(namespace));
  }

  /** Fails unless both are deleted in time. */
  async end(): Promise<void> {
    await this.#stage.remove(...this.owners);
  }

  async owned(): Promise<readonly string[]> {
    return await this.#stage.ownersOf(...this.objects);
  }
}

describeControllers('a policy and a share that are deleted', () => {
  const stage = new Stage(sharedCluster(), 'ho-go-');
  const reeve = withReeve(stage);

  beforeAll(async () => {
    await stage.apply(source(providerSource, { user: 'ann' }));
  });
  afterAll(async () => {
    await stage.remove({ kind: 'Secret', name: providerSource, namespace: 'reeve-shared' });
  });

  const gone = ['absent', 'absent', 'absent', 'absent'];
  const released = ['nobody', 'nobody', 'nobody', 'nobody'];

  async function setFinalizers(refs: readonly Ref[], finalizers: readonly string[]): Promise<void> {
    const patch = JSON.stringify({ metadata: { finalizers } });
    for (const { kind, name, namespace = '' } of refs)
      await stage.inEmergency('patch', kind, name, '-n', namespace, '--type=merge', '-p', patch);
  }

  async function isEnding(ref: Ref): Promise<boolean> {
    return (await stage.get(ref))?.metadata.deletionTimestamp !== undefined;
  }

  test('a deleted policy and a deleted share take their objects with them', async () => {
    const scene = await Scene.begin(stage, 'all');
    await scene.end();
    expect(await scene.owned()).toEqual(gone);
  });

  test('a deleted provider does not wait for a terminating namespace that others hold', async () => {
    const scene = await Scene.begin(stage, 'ending');
    const [ending, other] = scene.namespaces;
    const held = scene.objectsIn(ending);
    await setFinalizers(held, ['example.com/hold']);
    await stage.kubectl('delete', 'namespace', ending, '--wait=false');
    await scene.end();
    expect(await stage.ownersOf(...scene.objectsIn(other))).toEqual(['absent', 'absent']);
    expect(await stage.ownersOf(...held)).toEqual(scene.owners.map(({ kind, name }) => `${kind}/${name}`));
    await setFinalizers(held, []);
  });

  test('a deleted provider does not wait for an object that others hold', async () => {
    const scene = await Scene.begin(stage, 'held');
    const [first] = scene.namespaces;
    const held = scene.objectsIn(first);
    await setFinalizers(held, ['example.com/hold']);
    await scene.end();
    expect(await Promise.all(held.map(isEnding))).toEqual([true, true]);
    await setFinalizers(held, []);
    await inTime(() => scene.owned()).toEqual(gone);
  });

  test('a deleted share does not need its source', async () => {
    const scene = await Scene.begin(stage, 'source');
    await stage.remove({ kind: 'Secret', name: providerSource, namespace: 'reeve-shared' });
    await inTime(() => stage.condition(scene.owners[1], 'SourceAvailable')).toBe('False SourceMissing');
    await scene.end();
    expect(await scene.owned()).toEqual(gone);
    await stage.apply(source(providerSource, { user: 'ann' }));
  });

  test('a deleted provider that is suspended releases its objects', async () => {
    const scene = await Scene.begin(stage, 'suspended');
    await stage.apply(...scene.providers.map((each) => each.write(labelled('suspended'), { suspend: true })));
    await scene.end();
    expect(await scene.owned()).toEqual(released);
  });

  test('a deletion with --cascade=orphan is refused, because it would not keep the objects', async () => {
    const scene = await Scene.begin(stage, 'cascade');
    for (const { kind, name } of scene.owners) {
      const { code, stderr } = await kubectl(['delete', kind, name, '--cascade=orphan'], stage.administrator);
      expect([code, stderr]).toEqual([1, expect.stringContaining('set spec.deletionPolicy: Orphan first')]);
    }
    await scene.end();
    expect(await scene.owned()).toEqual(['absent', 'absent', 'absent', 'absent']);
  });

  test('a policy or share whose finalizer was removed is not deleted without its objects', async () => {
    const scene = await Scene.begin(stage, 'bared');
    for (const ref of scene.owners)
      await inTime(() => stage.kubectl('get', ref.kind, ref.name, '-o', 'jsonpath={.status.synced}')).toBe(
        '2',
      );
    // While no reconciler runs, the finalizer stays away.
    await reeve.process.stop();
    await reeve.start({ role: 'webhook' });
    const deletion = ({ kind, name }: Ref) => ['delete', kind, name, '--timeout=60s'];
    for (const ref of scene.owners) {
      const noFinalizer = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}'];
      await stage.kubectl('patch', ref.kind, ref.name, ...noFinalizer);
      const { code, stderr } = await kubectl(deletion(ref), stage.administrator);
      expect([code, stderr]).toEqual([1, expect.stringContaining('Reeve adds the finalizer again')]);
    }
    await reeve.process.stop();
    await reeve.start();
    for (const ref of scene.owners)
      await inTime(async () => (await kubectl(deletion(ref), stage.administrator)).stderr).toContain(
        `${ref.kind}/${ref.name} deletes 2 objects`,
      );
    expect(await scene.owned()).toEqual(['absent', 'absent', 'absent', 'absent']);
  });

  test('a deleted provider that does not load releases its objects', async () => {
    const scene = await Scene.begin(stage, 'invalid');
    const [{ name }] = scene.owners;
    const matchConditions = [{ name: 'broken', expression: 'namespaceObject.' }];
    await stage.applyInEmergency(policy(name, { match: { matchConditions } }));
    await inTime(() => stage.condition(scene.owners[0])).toBe('False Invalid');
    await scene.end();
    expect(await scene.owned()).toEqual(['nobody', 'nobody', 'absent', 'absent']);
  });
});

describeControllers('a kind that is deleted', () => {
  test('a deleted kind leaves everything that its objects provided, and can be installed again', async () => {
    await using plane = await startControlPlane();
    await installReeve(plane);
    await using reeve = await startReeve(plane);
    const stage = new Stage(plane, 'ho-go-');
    await stage.apply(source(providerSource, { user: 'ann' }));
    const scene = await Scene.begin(stage, 'kind');
    const definitions = ['namespacepolicies.reeve.dev', 'secretshares.reeve.dev'];
    await stage.kubectl('delete', 'crd', ...definitions, '--timeout=60s');
    expect(await scene.owned()).toEqual(['nobody', 'nobody', 'nobody', 'nobody']);
    for (const name of scene.namespaces) expect(await stage.deletionsIn(name)).toEqual([]);
    await installReeve(plane);
    expect(reeve.hasEnded).toBe(false);
    await Scene.begin(stage, 'again');
  });
});
