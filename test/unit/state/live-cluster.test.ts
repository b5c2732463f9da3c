// Tests the state that watches feed: the versions in force, and the changes that listeners see.
import { anyInstall } from '../../../src/policy/terms/install.ts';
import { describe, expect, it, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { LiveCluster, type ClusterChange } from '../../../src/state/live-cluster.ts';

interface Version {
  readonly uid?: string;
  readonly version?: string;
  readonly [field: string]: unknown;
}

function stored(apiVersion: string, kind: string, name: string, { uid, version, ...rest }: Version) {
  const { metadata, ...body } = rest;
  const own = { name, uid: uid ?? `uid-of-${name}`, resourceVersion: version ?? '1' };
  return { apiVersion, kind, metadata: { ...own, ...(metadata as object) }, ...body };
}

function policy(name: string, version: Version = {}): KubeObject {
  return stored('reeve.dev/v1alpha1', 'NamespacePolicy', name, { spec: {}, ...version });
}

function share(name: string, version: Version = {}): KubeObject {
  const spec = { source: { namespace: 'shared', name }, targets: { names: ['*'] } };
  return stored('reeve.dev/v1alpha1', 'SecretShare', name, { spec, ...version });
}

function namespace(name: string, version: Version = {}): KubeObject {
  return stored('v1', 'Namespace', name, version);
}

const none = { loaded: 0, 'last-good': 0, refused: 0 };
const broken = { spec: { suspend: 'yes' } };

function watched() {
  const cluster = new LiveCluster({ install: anyInstall });
  const told: string[] = [];
  const tell = (change: ClusterChange): void => void told.push(describeChange(change));
  cluster.subscribe({ namespace: tell, provider: tell });
  /** What has been told since it was last asked. */
  const news = (): readonly string[] => told.splice(0);
  return { cluster, news };
}

function describeChange(change: ClusterChange): string {
  const { before, after } = change;
  const what = change.kind === 'provider' ? change.id : `Namespace/${change.name}`;
  return `${what} ${label(before)}->${label(after)}`;
}

/** `loaded` and so on for owners, the resource version for Namespaces. */
function label(part: ClusterChange['before']): string {
  if (part === undefined) return '';
  return 'standing' in part ? String(part.standing) : String(part.metadata['resourceVersion']);
}

function names(cluster: LiveCluster): readonly string[] {
  const { policies, shares } = cluster.snapshot();
  return [...policies.policies, ...shares.shares].map(({ name }) => name);
}

describe('the versions in force', () => {
  it('nothing is in force at first', () => {
    const { cluster } = watched();
    const snapshot = cluster.snapshot();
    expect(names(cluster)).toEqual([]);
    expect([...snapshot.namespaces()]).toEqual([]);
    expect(snapshot.providers.size).toBe(0);
    expect(snapshot.policies.isExcluded('kube-system')).toBe(true);
    expect(cluster).toMatchObject({ version: 0, isSynced: false });
  });

  it('the versions in force follow lists and changes', () => {
    const { cluster } = watched();
    cluster.sinks.NamespacePolicy.replaced([policy('b'), policy('a')], '1');
    cluster.sinks.SecretShare.replaced([share('s')], '1');
    cluster.namespaces.replaced([namespace('x'), namespace('constructor')], '1');
    expect(names(cluster)).toEqual(['a', 'b', 's']);
    cluster.sinks.NamespacePolicy.removed(policy('a'));
    cluster.sinks.SecretShare.changed(share('t'));
    expect(names(cluster)).toEqual(['b', 's', 't']);
    expect(cluster.snapshot().namespace('constructor')?.metadata.name).toBe('constructor');
    expect(cluster.snapshot().namespace('toString')).toBeUndefined();
    expect([...cluster.snapshot().providers.keys()]).toEqual([
      'NamespacePolicy/b',
      'SecretShare/s',
      'SecretShare/t',
    ]);
  });

  it('the state is synced once each list has arrived', () => {
    const { cluster } = watched();
    cluster.namespaces.changed(namespace('x'));
    for (const sink of [...Object.values(cluster.sinks), cluster.namespaces]) {
      expect(cluster.isSynced).toBe(false);
      sink.replaced([], '1');
    }
    expect(cluster.isSynced).toBe(true);
  });

  it('an earlier snapshot keeps its policies and shares, but not its Namespaces', () => {
    const { cluster } = watched();
    cluster.sinks.NamespacePolicy.replaced([policy('a')], '1');
    const before = cluster.snapshot();
    cluster.sinks.NamespacePolicy.replaced([], '2');
    cluster.namespaces.changed(namespace('x'));
    expect(before.policies.policies).toHaveLength(1);
    expect(before.providers.size).toBe(1);
    expect(before.namespace('x')).toBeDefined();
    expect(cluster.snapshot().policies.policies).toEqual([]);
  });

  it('a changed Namespace does not rebuild the snapshot, and a change outside a spec does not rebuild the sets', () => {
    const { cluster } = watched();
    cluster.sinks.NamespacePolicy.replaced([policy('a')], '1');
    cluster.sinks.SecretShare.replaced([share('s')], '1');
    const first = cluster.snapshot();
    cluster.namespaces.changed(namespace('x'));
    expect(cluster.snapshot()).toBe(first);
    cluster.sinks.NamespacePolicy.changed(policy('a', { version: '2', status: { confirmationUsed: '7' } }));
    const second = cluster.snapshot();
    expect(second.providers.get('NamespacePolicy/a')?.confirmationUsed).toBe('7');
    expect(second.policies).toBe(first.policies);
    cluster.sinks.SecretShare.changed(share('s', { version: '2', spec: { ...broken } }));
    expect(cluster.snapshot().shares).toBe(first.shares);
    cluster.sinks.NamespacePolicy.changed(policy('a', { version: '3', spec: { suspend: true } }));
    expect(cluster.snapshot().policies).not.toBe(first.policies);
  });
});

describe('a policy that does not load', () => {
  it('a policy is refused while no version of it has loaded', () => {
    const { cluster } = watched();
    cluster.sinks.NamespacePolicy.changed(policy('a', broken));
    expect(names(cluster)).toEqual([]);
    expect(cluster.snapshot().providers.get('NamespacePolicy/a')).toMatchObject({ isValid: false });
    expect(cluster.provider('NamespacePolicy/a')).toMatchObject({
      standing: 'refused',
      definition: undefined,
      problems: [{ path: ['spec', 'suspend'], found: '"yes"' }],
    });
  });

  it('the last good version stays in force, however often a bad version is written', () => {
    const { cluster, news } = watched();
    cluster.sinks.NamespacePolicy.changed(policy('a', { spec: { contents: contentsOf('x') } }));
    cluster.sinks.NamespacePolicy.changed(policy('a', { ...broken, version: '2' }));
    cluster.sinks.NamespacePolicy.changed(policy('a', { spec: { validations: 3 }, version: '3' }));
    expect(cluster.snapshot().policies.policies).toMatchObject([{ contents: [{}] }]);
    expect(cluster.snapshot().providers.get('NamespacePolicy/a')).toMatchObject({
      isValid: false,
      provides: true,
      resourceVersion: '3',
    });
    cluster.sinks.NamespacePolicy.changed(policy('a', { version: '4' }));
    expect(cluster.snapshot().policies.policies).toMatchObject([{ contents: [] }]);
    expect(news()).toEqual([
      'NamespacePolicy/a ->loaded',
      'NamespacePolicy/a loaded->last-good',
      'NamespacePolicy/a last-good->last-good',
      'NamespacePolicy/a last-good->loaded',
    ]);
  });

  it('the last good version survives a new list', () => {
    const { cluster } = watched();
    cluster.sinks.NamespacePolicy.replaced([policy('a')], '1');
    cluster.sinks.NamespacePolicy.replaced([policy('a', { ...broken, version: '2' })], '2');
    expect(names(cluster)).toEqual(['a']);
  });

  it('a policy does not inherit a good version from an earlier policy of the same name', () => {
    const { cluster } = watched();
    cluster.sinks.NamespacePolicy.changed(policy('a'));
    cluster.sinks.NamespacePolicy.changed(policy('a', { ...broken, uid: 'another', version: '2' }));
    expect(names(cluster)).toEqual([]);
  });

  it('a policy that does not load is counted', () => {
    const { cluster } = watched();
    cluster.sinks.NamespacePolicy.replaced([policy('a'), policy('b'), policy('c', broken)], '1');
    cluster.sinks.NamespacePolicy.changed(policy('b', { ...broken, version: '2' }));
    cluster.sinks.SecretShare.changed(share('s', broken));
    expect(cluster.providerCounts()).toEqual({
      NamespacePolicy: { loaded: 1, 'last-good': 1, refused: 1 },
      SecretShare: { loaded: 0, 'last-good': 0, refused: 1 },
      ConfigMapShare: none,
      ClusterSecurityIntentBinding: none,
      SecurityIntentBinding: none,
    });
    expect([...cluster.providers()].map(({ state, standing }) => `${state.id} ${standing}`)).toEqual([
      'NamespacePolicy/a loaded',
      'NamespacePolicy/b last-good',
      'NamespacePolicy/c refused',
      'SecretShare/s refused',
    ]);
  });
});

function contentsOf(name: string): object {
  return { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }] };
}

test('a policy that is being deleted stays in force until it is deleted', () => {
  const { cluster } = watched();
  cluster.sinks.NamespacePolicy.changed(policy('a'));
  const deleting = policy('a', {
    version: '2',
    metadata: { deletionTimestamp: '2026-11-21T12:00:00Z', finalizers: ['reeve.dev/cleanup'] },
  });
  cluster.sinks.NamespacePolicy.changed(deleting);
  expect(names(cluster)).toEqual(['a']);
  expect(cluster.snapshot().providers.get('NamespacePolicy/a')).toMatchObject({
    isDeleting: true,
    hasFinalizer: true,
    isValid: true,
  });
  cluster.sinks.NamespacePolicy.removed(deleting);
  expect(names(cluster)).toEqual([]);
  expect(cluster.snapshot().providers.size).toBe(0);
});

describe('listeners', () => {
  it('listeners get each change once, after the whole list or event is stored', () => {
    const { cluster, news } = watched();
    const seen: number[] = [];
    cluster.subscribe({ namespace: () => seen.push([...cluster.snapshot().namespaces()].length) });
    cluster.namespaces.replaced([namespace('a'), namespace('b')], '1');
    expect(news()).toEqual(['Namespace/a ->1', 'Namespace/b ->1']);
    expect(seen).toEqual([2, 2]);
    cluster.namespaces.changed(namespace('a', { version: '2' }));
    cluster.namespaces.removed(namespace('b'));
    expect(news()).toEqual(['Namespace/a 1->2', 'Namespace/b 1->']);
    expect(cluster.version).toBe(4);
  });

  it('listeners get the deleted, new and changed objects of a list only', () => {
    const { cluster, news } = watched();
    cluster.namespaces.replaced([namespace('a'), namespace('b'), namespace('c')], '1');
    cluster.sinks.SecretShare.replaced([share('s')], '1');
    news();
    cluster.namespaces.replaced([namespace('b'), namespace('c', { version: '2' }), namespace('d')], '9');
    cluster.sinks.SecretShare.replaced([], '9');
    expect(news()).toEqual([
      'Namespace/a 1->',
      'Namespace/c 1->2',
      'Namespace/d ->1',
      'SecretShare/s loaded->',
    ]);
    const { version } = cluster;
    cluster.namespaces.replaced([namespace('b'), namespace('c', { version: '2' }), namespace('d')], '10');
    expect(news()).toEqual([]);
    expect(cluster.version).toBe(version);
  });

  it('listeners see that a namespace was replaced by another one of the same name', () => {
    const { cluster } = watched();
    const uids: unknown[] = [];
    cluster.namespaces.changed(namespace('a', { uid: 'first' }));
    cluster.subscribe({
      namespace: ({ before, after }) => uids.push(before?.metadata.uid, after?.metadata.uid),
    });
    cluster.namespaces.changed(namespace('a', { uid: 'second' }));
    cluster.namespaces.removed(namespace('a', { uid: 'first' }));
    expect(uids).toEqual(['first', 'second']);
    expect(cluster.snapshot().namespace('a')?.metadata.uid).toBe('second');
  });

  it('listeners get a provider before and after its change', () => {
    const { cluster } = watched();
    const matches: unknown[] = [];
    cluster.subscribe({
      provider: ({ before, after }) =>
        matches.push(
          ...[before, after].map((provider) => provider?.definition?.compiled.match.names?.[0]?.source),
        ),
    });
    cluster.sinks.NamespacePolicy.changed(policy('a', { spec: { match: { names: ['x'] } } }));
    cluster.sinks.NamespacePolicy.changed(policy('a', { version: '2', spec: { match: { names: ['y'] } } }));
    expect(matches).toEqual([undefined, 'x', 'x', 'y']);
  });

  it('a change of a provider affects namespaces unless only its version or finalizer is new', () => {
    const { cluster } = watched();
    const affects: boolean[] = [];
    const affecting: unknown[] = [];
    cluster.subscribe({
      provider: (change) => affects.push(change.affectsNamespaces),
      affecting: ({ after }) => affecting.push(after?.state.resourceVersion),
    });
    cluster.sinks.NamespacePolicy.changed(policy('a'));
    cluster.sinks.NamespacePolicy.changed(policy('a', { version: '2' }));
    cluster.sinks.NamespacePolicy.changed(policy('a', { version: '3', spec: { match: { names: ['y'] } } }));
    cluster.sinks.NamespacePolicy.removed(policy('a', { version: '4' }));
    expect(affects).toEqual([true, false, true, true]);
    expect(affecting).toEqual(['1', '3', undefined]);
  });

  it('listeners get no objects of other kinds', () => {
    const { cluster, news } = watched();
    cluster.sinks.NamespacePolicy.changed(policy('a'));
    cluster.namespaces.replaced([namespace('a')], '1');
    news();
    const strangers = [
      share('a', { version: '2' }),
      namespace('a', { version: '2' }),
      stored('example.com/v1', 'NamespacePolicy', 'a', { version: '2' }),
      stored('reeve.dev/v1alpha1', 'NamespacePolicy', '', {}),
      { metadata: {} },
    ];
    for (const stranger of strangers) {
      cluster.sinks.NamespacePolicy.changed(stranger);
      cluster.sinks.NamespacePolicy.removed(stranger);
    }
    cluster.namespaces.removed(namespace('unknown'));
    expect(news()).toEqual([]);
    expect(names(cluster)).toEqual(['a']);
    // A list in which the policy is not is one without it, whatever else has its name.
    cluster.sinks.NamespacePolicy.replaced(strangers, '2');
    expect(news()).toEqual(['NamespacePolicy/a loaded->']);
  });
});
