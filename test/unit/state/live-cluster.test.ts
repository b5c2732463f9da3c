// The view that watches feed: what is in force at each moment, and what its listeners are told.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/base/kube-object.ts';
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

const broken = { spec: { suspend: 'yes' } };

function watched() {
  const cluster = new LiveCluster({ excludedNamespaces: ['kube-system'] });
  const told: string[] = [];
  cluster.subscribe((change) => told.push(describeChange(change)));
  /** What has been told since it was last asked. */
  const news = (): readonly string[] => told.splice(0);
  return { cluster, news };
}

function describeChange(change: ClusterChange): string {
  const { before, after } = change;
  const what = change.kind === 'owner' ? change.id : `Namespace/${change.name}`;
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

describe('what is in force', () => {
  it('is empty at first', () => {
    const { cluster } = watched();
    const snapshot = cluster.snapshot();
    expect(names(cluster)).toEqual([]);
    expect([...snapshot.namespaces()]).toEqual([]);
    expect(snapshot.owners.size).toBe(0);
    expect(snapshot.policies.isExcluded('kube-system')).toBe(true);
    expect(cluster).toMatchObject({ version: 0, isSynced: false });
  });

  it('follows lists and changes', () => {
    const { cluster } = watched();
    cluster.policies.replaced([policy('b'), policy('a')], '1');
    cluster.shares.replaced([share('s')], '1');
    cluster.namespaces.replaced([namespace('x'), namespace('constructor')], '1');
    expect(names(cluster)).toEqual(['a', 'b', 's']);
    cluster.policies.removed(policy('a'));
    cluster.shares.changed(share('t'));
    expect(names(cluster)).toEqual(['b', 's', 't']);
    expect(cluster.snapshot().namespace('constructor')?.metadata.name).toBe('constructor');
    expect(cluster.snapshot().namespace('toString')).toBeUndefined();
    expect([...cluster.snapshot().owners.keys()]).toEqual([
      'NamespacePolicy/b',
      'SecretShare/s',
      'SecretShare/t',
    ]);
  });

  it('is known once each list has come', () => {
    const { cluster } = watched();
    cluster.policies.replaced([], '1');
    cluster.shares.replaced([], '1');
    cluster.namespaces.changed(namespace('x'));
    expect(cluster.isSynced).toBe(false);
    cluster.namespaces.replaced([], '1');
    expect(cluster.isSynced).toBe(true);
  });

  it('stays as it was in a snapshot that was taken before, Namespaces aside', () => {
    const { cluster } = watched();
    cluster.policies.replaced([policy('a')], '1');
    const before = cluster.snapshot();
    cluster.policies.replaced([], '2');
    cluster.namespaces.changed(namespace('x'));
    expect(before.policies.policies).toHaveLength(1);
    expect(before.owners.size).toBe(1);
    expect(before.namespace('x')).toBeDefined();
    expect(cluster.snapshot().policies.policies).toEqual([]);
  });

  it('is not made again for Namespaces, nor the sets for what is written beside a spec', () => {
    const { cluster } = watched();
    cluster.policies.replaced([policy('a')], '1');
    cluster.shares.replaced([share('s')], '1');
    const first = cluster.snapshot();
    cluster.namespaces.changed(namespace('x'));
    expect(cluster.snapshot()).toBe(first);
    cluster.policies.changed(policy('a', { version: '2', status: { confirmationUsed: '7' } }));
    const second = cluster.snapshot();
    expect(second.owners.get('NamespacePolicy/a')?.confirmationUsed).toBe('7');
    expect(second.policies).toBe(first.policies);
    cluster.shares.changed(share('s', { version: '2', spec: { ...broken } }));
    expect(cluster.snapshot().shares).toBe(first.shares);
    cluster.policies.changed(policy('a', { version: '3', spec: { suspend: true } }));
    expect(cluster.snapshot().policies).not.toBe(first.policies);
  });
});

describe('a policy that does not load', () => {
  it('is refused while no version of it was good', () => {
    const { cluster } = watched();
    cluster.policies.changed(policy('a', broken));
    expect(names(cluster)).toEqual([]);
    expect(cluster.snapshot().owners.get('NamespacePolicy/a')).toMatchObject({ isValid: false });
    expect(cluster.owner('NamespacePolicy/a')).toMatchObject({
      standing: 'refused',
      definition: undefined,
      problems: [{ path: ['spec', 'suspend'], found: '"yes"' }],
    });
  });

  it('stays in its last good version, however often it is written', () => {
    const { cluster, news } = watched();
    cluster.policies.changed(policy('a', { spec: { contents: contentsOf('x') } }));
    cluster.policies.changed(policy('a', { ...broken, version: '2' }));
    cluster.policies.changed(policy('a', { spec: { validations: 3 }, version: '3' }));
    expect(cluster.snapshot().policies.policies).toMatchObject([{ contents: [{}] }]);
    expect(cluster.snapshot().owners.get('NamespacePolicy/a')).toMatchObject({
      isValid: false,
      provides: true,
      resourceVersion: '3',
    });
    cluster.policies.changed(policy('a', { version: '4' }));
    expect(cluster.snapshot().policies.policies).toMatchObject([{ contents: [] }]);
    expect(news()).toEqual([
      'NamespacePolicy/a ->loaded',
      'NamespacePolicy/a loaded->last-good',
      'NamespacePolicy/a last-good->last-good',
      'NamespacePolicy/a last-good->loaded',
    ]);
  });

  it('keeps it over a new list', () => {
    const { cluster } = watched();
    cluster.policies.replaced([policy('a')], '1');
    cluster.policies.replaced([policy('a', { ...broken, version: '2' })], '2');
    expect(names(cluster)).toEqual(['a']);
  });

  it('has none from another policy of its name', () => {
    const { cluster } = watched();
    cluster.policies.changed(policy('a'));
    cluster.policies.changed(policy('a', { ...broken, uid: 'another', version: '2' }));
    expect(names(cluster)).toEqual([]);
  });

  it('is counted', () => {
    const { cluster } = watched();
    cluster.policies.replaced([policy('a'), policy('b'), policy('c', broken)], '1');
    cluster.policies.changed(policy('b', { ...broken, version: '2' }));
    cluster.shares.changed(share('s', broken));
    expect(cluster.providerCounts()).toEqual({
      NamespacePolicy: { loaded: 1, 'last-good': 1, refused: 1 },
      SecretShare: { loaded: 0, 'last-good': 0, refused: 1 },
    });
    expect([...cluster.owners()].map(({ state, standing }) => `${state.id} ${standing}`)).toEqual([
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

describe('a policy that is being deleted', () => {
  it('stays until it is gone', () => {
    const { cluster } = watched();
    cluster.policies.changed(policy('a'));
    const deleting = policy('a', {
      version: '2',
      metadata: { deletionTimestamp: '2026-11-21T12:00:00Z', finalizers: ['reeve.dev/cleanup'] },
    });
    cluster.policies.changed(deleting);
    expect(names(cluster)).toEqual(['a']);
    expect(cluster.snapshot().owners.get('NamespacePolicy/a')).toMatchObject({
      isDeleting: true,
      hasFinalizer: true,
      isValid: true,
    });
    cluster.policies.removed(deleting);
    expect(names(cluster)).toEqual([]);
    expect(cluster.snapshot().owners.size).toBe(0);
  });
});

describe('listeners', () => {
  it('are told of each change, once, when all of it has been taken in', () => {
    const { cluster, news } = watched();
    const seen: number[] = [];
    cluster.subscribe(() => seen.push([...cluster.snapshot().namespaces()].length));
    cluster.namespaces.replaced([namespace('a'), namespace('b')], '1');
    expect(news()).toEqual(['Namespace/a ->1', 'Namespace/b ->1']);
    expect(seen).toEqual([2, 2]);
    cluster.namespaces.changed(namespace('a', { version: '2' }));
    cluster.namespaces.removed(namespace('b'));
    expect(news()).toEqual(['Namespace/a 1->2', 'Namespace/b 1->']);
    expect(cluster.version).toBe(4);
  });

  it('learn from a list what is gone, new or other, and nothing else', () => {
    const { cluster, news } = watched();
    cluster.namespaces.replaced([namespace('a'), namespace('b'), namespace('c')], '1');
    cluster.shares.replaced([share('s')], '1');
    news();
    cluster.namespaces.replaced([namespace('b'), namespace('c', { version: '2' }), namespace('d')], '9');
    cluster.shares.replaced([], '9');
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

  it('see that a namespace is another one of its name', () => {
    const { cluster } = watched();
    const uids: unknown[] = [];
    cluster.namespaces.changed(namespace('a', { uid: 'first' }));
    cluster.subscribe((change) => {
      if (change.kind === 'namespace') uids.push(change.before?.metadata.uid, change.after?.metadata.uid);
    });
    cluster.namespaces.changed(namespace('a', { uid: 'second' }));
    cluster.namespaces.removed(namespace('a', { uid: 'first' }));
    expect(uids).toEqual(['first', 'second']);
    expect(cluster.snapshot().namespace('a')?.metadata.uid).toBe('second');
  });

  it('learn how an owner was and is', () => {
    const { cluster } = watched();
    const matches: unknown[] = [];
    cluster.subscribe((change) => {
      if (change.kind !== 'owner') return;
      matches.push(
        ...[change.before, change.after].map((owner) => owner?.definition?.compiled.match.names?.[0]?.source),
      );
    });
    cluster.policies.changed(policy('a', { spec: { match: { names: ['x'] } } }));
    cluster.policies.changed(policy('a', { version: '2', spec: { match: { names: ['y'] } } }));
    expect(matches).toEqual([undefined, 'x', 'x', 'y']);
  });

  it('are not told of what is no object of ours', () => {
    const { cluster, news } = watched();
    cluster.policies.changed(policy('a'));
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
      cluster.policies.changed(stranger);
      cluster.policies.removed(stranger);
    }
    cluster.namespaces.removed(namespace('unknown'));
    expect(news()).toEqual([]);
    expect(names(cluster)).toEqual(['a']);
    // A list in which the policy is not is one without it, whatever else has its name.
    cluster.policies.replaced(strangers, '2');
    expect(news()).toEqual(['NamespacePolicy/a loaded->']);
  });
});
