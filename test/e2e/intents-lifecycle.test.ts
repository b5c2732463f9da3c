// Bindings of intents from their first object to their last: changed intents, engines that come and go, and ending namespaces.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { installEngines, kindFlags, removeEngines } from './support/engine-kinds.ts';
import { inTime } from './support/in-time.ts';
import { intentBinding, namespaceObject, securityIntent, type Kind, type Ref } from './support/objects.ts';
import { Rounds } from './support/rounds.ts';
import { Stage } from './support/stage.ts';

const ownKinds = ['securityintents', 'clustersecurityintentbindings', 'securityintentbindings'].map(
  (plural) => `${plural}.reeve.dev`,
);

describeControllers('the life of bindings', () => {
  // Its own cluster: kinds of engines come and go for everybody.
  let cluster: ControlPlane;
  let stage: Stage;
  let rounds: Rounds;
  let reeve: Reeve;

  beforeAll(async () => {
    cluster = await startControlPlane();
    await installReeve(cluster);
    // As in an upgrade of an install that is older than these kinds.
    await mustKubectl(['delete', 'crd', ...ownKinds], cluster);
    reeve = await startReeve(cluster, { args: kindFlags });
    stage = new Stage(cluster, 'il-');
    rounds = new Rounds(stage);
    await rounds.begin('il-');
  });
  afterAll(async () => {
    await reeve.stop();
    await cluster.stop();
  });

  const makeNamespace = async (name: string, labels = {}): Promise<string> => {
    await stage.apply(namespaceObject(name, labels));
    return name;
  };
  const tenantRef = (namespace: string, name = 'il-own'): Ref => ({
    kind: 'SecurityIntentBinding',
    namespace,
    name,
  });
  const bind = async (ref: Ref, intents: readonly string[], more: object = {}): Promise<void> => {
    await stage.apply(intentBinding(ref, { intents, ...more }));
  };
  const object = (kind: Kind, namespace: string, name: string): Ref => ({ kind, namespace, name });
  const resolved = (ref: Ref): Promise<string> => stage.condition(ref, 'IntentsResolved');

  test('Reeve works without the kinds of intents, and follows them once they are installed', async () => {
    const namespace = await makeNamespace('il-older');
    await rounds.pass(namespace);
    await mustKubectl(['apply', '-f', 'manifests/crds'], cluster);
    const intents = [
      securityIntent('il-dns', { id: 'dnsManipulation' }),
      securityIntent('il-tools', { id: 'swDeploymentTools' }),
    ];
    await inTime(async () => (await stage.tryApply(intents)).stderr).toBe('');
    await bind(tenantRef(namespace), ['il-dns']);
    await inTime(() => stage.ownersOf(object('NetworkPolicy', namespace, 'il-dns'))).toEqual([
      `SecurityIntentBinding/${namespace}/il-own`,
    ]);
    await stage.remove(tenantRef(namespace));
    expect(await stage.get(tenantRef(namespace))).toBeUndefined();
  });

  test('a binding waits for an intent that does not exist yet, and follows the intent afterwards', async () => {
    const namespace = await makeNamespace('il-later');
    const ref = tenantRef(namespace);
    await bind(ref, ['il-dns', 'il-new']);
    const now = object('NetworkPolicy', namespace, 'il-dns');
    const later = object('NetworkPolicy', namespace, 'il-new');
    await inTime(() => stage.ownersOf(now, later)).toEqual([
      `SecurityIntentBinding/${namespace}/il-own`,
      'absent',
    ]);
    await inTime(() => resolved(ref)).toBe('False IntentNotFound');
    expect(await stage.condition(ref)).toMatch(/^False /);
    await stage.apply(
      securityIntent('il-new', { id: 'denyExternalNetworkAccess', params: { ranges: ['10.1.0.0/16'] } }),
    );
    await inTime(() => stage.ownersOf(later)).toEqual([`SecurityIntentBinding/${namespace}/il-own`]);
    await inTime(() => resolved(ref)).toMatch(/^True /);
    await inTime(() => stage.condition(ref)).toMatch(/^True /);
    await stage.apply(
      securityIntent('il-new', { id: 'denyExternalNetworkAccess', params: { ranges: ['10.2.0.0/16'] } }),
    );
    await inTime(async () => JSON.stringify((await stage.get(later))?.['spec'])).toContain('10.2.0.0/16');
    await stage.kubectl('delete', 'securityintent', 'il-new');
    await inTime(() => stage.ownersOf(now, later)).toEqual([
      `SecurityIntentBinding/${namespace}/il-own`,
      'absent',
    ]);
    await inTime(() => resolved(ref)).toBe('False IntentNotFound');
    await stage.remove(ref);
    expect(await stage.ownersOf(now, later)).toEqual(['absent', 'absent']);
  });

  test('a namespace that leaves the match loses the objects of a cluster binding, and no other namespace does', async () => {
    const [stays, leaves] = [
      await makeNamespace('il-stays', { il: 'yes' }),
      await makeNamespace('il-leaves', { il: 'yes' }),
    ];
    const ref: Ref = { kind: 'ClusterSecurityIntentBinding', name: 'il-all' };
    await bind(ref, ['il-dns'], { match: { namespaceSelector: { matchLabels: { il: 'yes' } } } });
    const objects = [stays, leaves].map((namespace) => object('NetworkPolicy', namespace, 'il-dns'));
    const owner = 'ClusterSecurityIntentBinding/il-all';
    await inTime(() => stage.ownersOf(...objects)).toEqual([owner, owner]);
    await stage.kubectl('label', 'namespace', leaves, 'il-');
    await inTime(() => stage.ownersOf(...objects)).toEqual([owner, 'absent']);
    await stage.remove(ref);
    expect(await stage.ownersOf(...objects)).toEqual(['absent', 'absent']);
  });

  test('two bindings that give the same object share it, and it outlives each of them but not both', async () => {
    const namespace = await makeNamespace('il-both');
    const all: Ref = { kind: 'ClusterSecurityIntentBinding', name: 'il-both' };
    const own = tenantRef(namespace);
    const policy = object('NetworkPolicy', namespace, 'il-dns');
    await bind(own, ['il-dns']);
    await inTime(() => stage.ownersOf(policy)).toEqual([`SecurityIntentBinding/${namespace}/il-own`]);
    const before = await stage.uidsOf(policy);
    await bind(all, ['il-dns'], { match: { names: [namespace] } });
    await inTime(() => stage.condition(all)).toMatch(/^True /);
    await inTime(() => stage.condition(own)).toMatch(/^True /);
    // The binding of the cluster comes first.
    await inTime(() => stage.ownersOf(policy)).toEqual(['ClusterSecurityIntentBinding/il-both']);
    await stage.remove(all);
    await inTime(() => stage.ownersOf(policy)).toEqual([`SecurityIntentBinding/${namespace}/il-own`]);
    expect(await stage.uidsOf(policy)).toEqual(before);
    await stage.remove(own);
    expect(await stage.ownersOf(policy)).toEqual(['absent']);
  });

  test('neither the finalizer nor the fuse of a binding holds up the deletion of its namespace', async () => {
    const namespace = await makeNamespace('il-ends');
    const ref = tenantRef(namespace);
    await bind(ref, ['il-dns'], { maxDeletions: 0 });
    await inTime(() => stage.ownersOf(object('NetworkPolicy', namespace, 'il-dns'))).toEqual([
      `SecurityIntentBinding/${namespace}/il-own`,
    ]);
    expect((await stage.mustGet(ref)).metadata.finalizers).toEqual(['reeve.dev/cleanup']);
    await stage.kubectl('delete', 'namespace', namespace, '--timeout=60s');
    expect(await stage.get({ kind: 'Namespace', name: namespace })).toBeUndefined();
  });

  describe('an engine', () => {
    const ref = tenantRef('il-engine');
    const policy = object('KubeArmorPolicy', 'il-engine', 'il-tools');
    const owner = 'SecurityIntentBinding/il-engine/il-own';

    test('an engine that is installed later completes the binding, without a restart', async () => {
      await makeNamespace('il-engine');
      await bind(ref, ['il-tools', 'il-dns']);
      await inTime(() => resolved(ref)).toBe('False Unsupported');
      await inTime(() => stage.ownersOf(object('NetworkPolicy', 'il-engine', 'il-dns'))).toEqual([owner]);
      await installEngines(cluster, 'kubearmor');
      await inTime(() => stage.ownersOf(policy)).toEqual([owner]);
      await inTime(() => resolved(ref)).toMatch(/^True /);
      await inTime(() => stage.condition(ref)).toMatch(/^True /);
      expect(await stage.failures(ref)).toEqual([]);
    });

    test('an engine that is removed and installed again gets its objects again', async () => {
      await removeEngines(cluster, 'kubearmor');
      await inTime(() => resolved(ref)).toBe('False Unsupported');
      expect(await stage.ownersOf(object('NetworkPolicy', 'il-engine', 'il-dns'))).toEqual([owner]);
      await installEngines(cluster, 'kubearmor');
      await inTime(() => stage.ownersOf(policy)).toEqual([owner]);
      await inTime(() => stage.condition(ref)).toMatch(/^True /);
    });

    test('the watch of a kind that was installed again repairs objects, as it did before', async () => {
      const [before] = await stage.uidsOf(policy);
      await stage.inEmergency('delete', 'kubearmorpolicy', 'il-tools', '-n', 'il-engine');
      await inTime(() => stage.ownersOf(policy)).toEqual([owner]);
      expect(await stage.uidsOf(policy)).not.toEqual([before]);
    });

    test('a binding that is deleted with its engine installed leaves nothing behind', async () => {
      await stage.remove(ref);
      expect(await stage.ownersOf(policy, object('NetworkPolicy', 'il-engine', 'il-dns'))).toEqual([
        'absent',
        'absent',
      ]);
    });

    test('a binding can be deleted after its engine was removed', async () => {
      await bind(ref, ['il-tools']);
      await inTime(() => stage.ownersOf(policy)).toEqual([owner]);
      await removeEngines(cluster, 'kubearmor');
      await stage.remove(ref);
      expect(await stage.get(ref)).toBeUndefined();
    });
  });

  test('a restart with nothing to do writes nothing', async () => {
    const namespace = await makeNamespace('il-restart');
    await bind(tenantRef(namespace), ['il-dns']);
    await inTime(() => stage.condition(tenantRef(namespace))).toMatch(/^True /);
    await rounds.pass(namespace);
    const before = await rounds.writes(namespace);
    await reeve.stop();
    reeve = await startReeve(cluster, { args: kindFlags });
    await rounds.pass(namespace);
    expect(await rounds.writes(namespace)).toEqual(before);
  });

  test('an uninstall without a running Reeve deletes bindings with what they gave, and intents with their kinds', async () => {
    const namespace = await makeNamespace('il-uninstall');
    await bind(tenantRef(namespace), ['il-dns']);
    await bind({ kind: 'ClusterSecurityIntentBinding', name: 'il-last' }, ['il-dns'], {
      match: { names: ['il-restart'] },
    });
    const objects = [namespace, 'il-restart'].map((each) => object('NetworkPolicy', each, 'il-dns'));
    await inTime(() => stage.ownersOf(...objects)).toEqual([
      `SecurityIntentBinding/${namespace}/il-own`,
      'ClusterSecurityIntentBinding/il-last',
    ]);
    await reeve.stop();
    await using uninstall = new ReeveProcess(['uninstall', `--kubeconfig=${cluster.kubeconfig}`, '--yes']);
    const { code, stdout, stderr } = await uninstall.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`deleted SecurityIntentBinding ${namespace}/il-own\n`);
    expect(stdout).toContain('deleted ClusterSecurityIntentBinding il-last\n');
    expect(stdout).toContain('deleted CustomResourceDefinition securityintents.reeve.dev\n');
    expect(await stage.ownersOf(...objects)).toEqual(['absent', 'absent']);
  });
});
