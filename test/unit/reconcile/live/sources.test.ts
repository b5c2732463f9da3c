import { ownMember } from '../../../../src/base/json.ts';
import { anyInstall } from '../../../../src/policy/terms/install.ts';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { secretObjectType } from '../../../../src/base/object-type.ts';
import type { CompiledShare } from '../../../../src/policy/compile/compile-share.ts';
import { ShareSet } from '../../../../src/policy/compile/snapshot.ts';
import { Sources } from '../../../../src/reconcile/live/sources.ts';
import { testContext } from '../../../support/reconcile-context.ts';
import { aShare } from '../../../support/engine.ts';

const share = aShare('x', { source: { namespace: 'n', name: 's' }, targets: { names: ['*'] } });
const { signal } = new AbortController();

function secretOf(type: string, version = '5'): KubeObject {
  const metadata = { name: 's', namespace: 'n', uid: 'u', resourceVersion: version };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type, data: { k: btoa(version) } };
}

function sourcesOf(read: () => KubeObject, shares: readonly CompiledShare[]): Sources {
  const context = testContext();
  const { cluster, writer } = context;
  const snapshot = { ...cluster.snapshot(), shares: new ShareSet(shares) };
  cluster.snapshot = () => snapshot;
  return new Sources({
    ...context,
    install: { ...anyInstall, sourceNamespaces: ['n'] },
    writer: { ...writer, read: async () => await Promise.resolve(read()) },
  });
}

function sourcesWith(secret: KubeObject, shares: readonly CompiledShare[]): Sources {
  const sources = sourcesOf(() => secret, shares);
  sources.sink(secretObjectType, 'n').replaced([secret], '6');
  return sources;
}

test('the payload of a Secret that a share names is kept', async () => {
  const sources = sourcesWith(secretOf('Opaque'), [share]);
  await sources.read(share, signal);
  expect(sources.copyStateOf(share).kind).toBe('ready');
});

test('the payload of a Secret that no share names any more is not kept', async () => {
  const sources = sourcesWith(secretOf('Opaque'), []);
  await sources.read(share, signal);
  expect(sources.copyStateOf(share).kind).toBe('unread');
});

test('the payload of a Secret that is never copied is not kept', async () => {
  const secret: Record<string, unknown> & KubeObject = { ...secretOf('helm.sh/release.v1') };
  const sources = sourcesWith(secret, [share]);
  await sources.read(share, signal);
  // If the Secret itself had been kept, it could be copied now.
  secret['type'] = 'Opaque';
  expect(sources.copyStateOf(share)).toMatchObject({ kind: 'unavailable', reason: 'SourceTypeForbidden' });
});

test.for([
  ['30', true],
  ['70', false],
] as const)(
  'after a restore of etcd, a list at %s with older Secrets replaces everything that is known of sources',
  async ([listedAt, isRestored]) => {
    let stored = secretOf('Opaque', '50');
    const changed: string[] = [];
    const sources = sourcesOf(() => stored, [share]);
    sources.subscribe((id) => changed.push(id));
    const sink = sources.sink(secretObjectType, 'n');
    sink.replaced([], '1');
    sink.changed(stored);
    await sources.read(share, signal);
    expect(sources.copyStateOf(share)).toMatchObject({ payload: { body: { data: { k: btoa('50') } } } });
    stored = secretOf('Opaque', '20');
    changed.length = 0;
    sink.replaced([stored], listedAt, isRestored);
    expect([sources.copyStateOf(share).kind, changed]).toEqual(['unread', ['Secret/n/s']]);
    await sources.read(share, signal);
    expect(sources.copyStateOf(share)).toMatchObject({ payload: { body: { data: { k: btoa('20') } } } });
  },
);

test('a watch of another kind in the same namespace changes nothing about a source', () => {
  const sources = sourcesOf(() => secretOf('Opaque'), [share]);
  const other = { apiVersion: 'v1', kind: 'ConfigMap' };
  const reasonOf = (): unknown => ownMember(sources.copyStateOf(share), 'reason');
  sources.sink(other, 'n').replaced([{ ...secretOf('Opaque'), ...other }], '6');
  expect([sources.isSyncedIn(other, 'n'), reasonOf()]).toEqual([true, 'SourceUnreadable']);
  sources.sink(secretObjectType, 'n').replaced([secretOf('Opaque')], '6');
  sources.sink(other, 'n').replaced([], '7');
  expect(sources.copyStateOf(share).kind).toBe('unread');
});
