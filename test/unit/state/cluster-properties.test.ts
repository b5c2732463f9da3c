// Tests the variables of the cluster that ClusterProperties give: which policies they change, and when the cluster is synced.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { unservedVersion } from '../../../src/base/watch-sink.ts';
import { findInstall } from '../../../src/cli/input/find-install.ts';
import { installOf } from '../../../src/policy/terms/install.ts';
import { LiveCluster } from '../../../src/state/live-cluster.ts';

describe('variables of the cluster', () => {
  const policyOf = (name: string, spec: object): KubeObject => ({
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'NamespacePolicy',
    metadata: { name, uid: name, resourceVersion: '1' },
    spec,
  });
  const reading = policyOf('p', { variables: [{ name: 'of', expression: 'variables.cluster.region' }] });
  const property = (name: string, value: string, resourceVersion = '1'): KubeObject => ({
    apiVersion: 'about.k8s.io/v1alpha1',
    kind: 'ClusterProperty',
    metadata: { name, uid: name, resourceVersion },
    spec: { value },
  });
  function cluster(variable: readonly string[] = []) {
    const install = installOf({ namespace: 'n', sharedNamespace: [], excludeNamespace: [], variable });
    const live = new LiveCluster({ install, watchesProperties: true });
    const [beta, alpha] = live.properties.map(({ sink }) => sink);
    if (beta === undefined || alpha === undefined) throw new Error('there are two versions');
    return { live, beta, alpha };
  }
  const standing = (live: LiveCluster) => live.provider('NamespacePolicy/p')?.standing;

  it('a policy that reads a property loads as soon as the property exists, and others are left alone', () => {
    const { live, alpha } = cluster();
    const told: string[] = [];
    live.sinks.NamespacePolicy.replaced([reading, policyOf('q', {})], '1');
    expect(standing(live)).toBe('refused');
    live.subscribe({ affecting: ({ id }) => void told.push(id) });
    alpha.replaced([property('region', 'eu')], '1');
    expect([standing(live), told]).toEqual(['loaded', ['NamespacePolicy/p']]);
  });

  it('a changed value is another definition, and a deleted property keeps the last good one', () => {
    const { live, alpha } = cluster();
    alpha.replaced([property('region', 'eu')], '1');
    live.sinks.NamespacePolicy.replaced([reading], '1');
    const before = live.provider('NamespacePolicy/p')?.definition;
    alpha.changed(property('region', 'us', '2'));
    const after = live.provider('NamespacePolicy/p')?.definition;
    expect([after === before, standing(live)]).toEqual([false, 'loaded']);
    alpha.removed(property('region', 'us', '2'));
    expect([live.provider('NamespacePolicy/p')?.definition === after, standing(live)]).toEqual([
      true,
      'last-good',
    ]);
  });

  it('the value of the install wins, and a property that changes beside it changes nothing', () => {
    const { live, alpha } = cluster(['cluster.region=eu']);
    live.sinks.NamespacePolicy.replaced([reading], '1');
    const before = live.provider('NamespacePolicy/p')?.definition;
    alpha.replaced([property('region', 'us')], '1');
    expect(live.provider('NamespacePolicy/p')?.definition).toBe(before);
    expect(live.snapshot().intents.context.cluster).toEqual({ region: 'eu' });
  });

  it('a value that is too long is no variable', () => {
    const { live, alpha } = cluster();
    alpha.replaced([property('long', 'x'.repeat(1025)), property('region', 'eu')], '1');
    expect(live.snapshot().intents.context.cluster).toEqual({ region: 'eu' });
  });

  it('the cluster is synced when both versions have been listed, or are not served', () => {
    const { live, beta, alpha } = cluster();
    for (const sink of [...Object.values(live.sinks), live.namespaces, beta]) sink.replaced([], '1');
    expect(live.isSynced).toBe(false);
    alpha.replaced([], unservedVersion);
    expect(live.isSynced).toBe(true);
  });

  it('a command on a cluster with an install knows its properties, and one without an install knows none', () => {
    const args = ['run', '--variable=cluster.zone=a'];
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'reeve', labels: { 'app.kubernetes.io/part-of': 'reeve' } },
      spec: { template: { spec: { containers: [{ args }] } } },
    };
    const region = property('region', 'eu');
    expect(findInstall([deployment, region], {}).clusterVariables).toEqual({ region: 'eu', zone: 'a' });
    const other = { variable: ['cluster.region=us'] };
    expect(findInstall([deployment, region], other).clusterVariables).toEqual({ region: 'us' });
    expect(findInstall([region], {}).clusterVariables).toBeUndefined();
  });
});
