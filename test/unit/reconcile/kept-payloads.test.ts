import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/kube-object.ts';
import type { CompiledShare } from '../../../src/policy/compile/compiled-share.ts';
import { Sources } from '../../../src/reconcile/live/sources.ts';
import { aShare } from '../../support/engine.ts';

const share = aShare('x', { source: { namespace: 'n', name: 's' }, targets: { names: ['*'] } });
const { signal } = new AbortController();

function secretOf(type: string): KubeObject {
  const metadata = { name: 's', namespace: 'n', uid: 'u', resourceVersion: '5' };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type, data: { k: 'djE=' } };
}

function sourcesWith(secret: KubeObject, shares: readonly CompiledShare[]): Sources {
  const sources = new Sources({
    namespaces: ['n'],
    writer: { read: async () => await Promise.resolve(secret) },
    shares: () => shares,
    changed: () => undefined,
  });
  sources.sink('n').replaced([secret], '6');
  return sources;
}

test('the payload of a Secret that a share names is kept', async () => {
  const sources = sourcesWith(secretOf('Opaque'), [share]);
  await sources.read(share, signal);
  expect(sources.copyStateOf(share).kind).toBe('ready');
});

test('that of a Secret that no share names any more is not', async () => {
  const sources = sourcesWith(secretOf('Opaque'), []);
  await sources.read(share, signal);
  expect(sources.copyStateOf(share).kind).toBe('unread');
});

test('nor is that of one that is never copied', async () => {
  const secret: Record<string, unknown> & KubeObject = { ...secretOf('helm.sh/release.v1') };
  const sources = sourcesWith(secret, [share]);
  await sources.read(share, signal);
  // If the Secret itself had been kept, it could be copied now.
  secret['type'] = 'Opaque';
  expect(sources.copyStateOf(share)).toMatchObject({ kind: 'unavailable', reason: 'SourceTypeForbidden' });
});
