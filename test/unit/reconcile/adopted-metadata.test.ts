// Labels and annotations of an adopted object: what it keeps when it is replaced, and what it gets back.
import { expect, test } from 'vitest';
import { adoptLabel } from '../../../src/schema/names.ts';
import {
  bindingPolicy,
  ours,
  settledBeside,
  shareOf,
  strangersBinding,
  team,
} from '../../support/provided.ts';
import { refTo } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

test('an adopted object that is replaced keeps its labels and annotations', async () => {
  const labels = { [adoptLabel]: 'delete', team: 'a', 'app.kubernetes.io/managed-by': 'Helm' };
  // A user can write any annotation before the adoption, so its value is not believed.
  const annotations = { note: 'y', 'reeve.dev/adopted': 'managed-by=reeve' };
  const h = await settledBeside(harness(), strangersBinding({ labels, annotations }, 'other'));
  const { metadata, roleRef: now } = h.get('RoleBinding', 'devs', 'a') ?? { metadata: {} };
  expect(now).toMatchObject({ name: 'edit' });
  expect(metadata.labels).toMatchObject({
    [adoptLabel]: 'delete',
    team: 'a',
    'app.kubernetes.io/managed-by': 'reeve',
  });
  expect(metadata.annotations).toMatchObject({ note: 'y', 'reeve.dev/adopted': 'managed-by=Helm' });
  expect(h.told.events.find(({ reason }) => reason === 'Adopted')?.note).toContain(
    'what it held before (ClusterRole/other for User/them) does not come back, because it was deleted and created again',
  );
});

test('an adopted object gets back the label managed-by of its owner', async () => {
  const owner = { 'app.kubernetes.io/managed-by': 'Helm' };
  const h = await settledBeside(harness(), strangersBinding({ labels: { [adoptLabel]: 'true', ...owner } }));
  expect(h.get('RoleBinding', 'devs', 'a')?.metadata.labels).toMatchObject(ours.metadata.labels);
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  const { labels, annotations } = h.get('RoleBinding', 'devs', 'a')?.metadata ?? {};
  expect([labels, annotations]).toEqual([{ [adoptLabel]: 'true', ...owner }, undefined]);
});

test('an adopted object that its suspended policy leaves behind has the label managed-by of its owner, and its policy keeps it', async () => {
  const owner = { 'app.kubernetes.io/managed-by': 'Helm' };
  const h = await settledBeside(harness(), strangersBinding({ labels: { [adoptLabel]: 'true', ...owner } }));
  h.policy('p', bindingPolicy({ suspend: true }));
  await h.settle();
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect(h.get('RoleBinding', 'devs', 'a')?.metadata.labels).toMatchObject({
    ...owner,
    'reeve.dev/orphaned-from': 'p',
  });
  h.policy('p', bindingPolicy());
  await h.settle();
  expect(h.get('RoleBinding', 'devs', 'a')?.metadata.annotations).toMatchObject({
    'reeve.dev/adopted': 'managed-by=Helm',
  });
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect(h.get('RoleBinding', 'devs', 'a')?.metadata.labels).toMatchObject(owner);
});

test('an adopted Secret keeps the labels and annotations of its owner when the form of the copies changes', async () => {
  const h = harness();
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { user: 'u', password: 'p' });
  h.namespace('a', team);
  const labels = { [adoptLabel]: 'true', team: 'a' };
  h.secret(
    'a',
    'regcred',
    { user: 'mine' },
    { metadata: { name: 'regcred', namespace: 'a', labels, annotations: { note: 'y' } } },
  );
  h.share('s', shareOf({ target: { labels: { tier: 'one' } } }));
  h.start();
  await h.settle();
  const keys = [{ from: 'user', to: 'user' }];
  for (const target of [{ labels: { tier: 'two' } }, { labels: { tier: 'two' }, keys }]) {
    h.share('s', shareOf({ target }));
    await h.settle();
    const { metadata } = h.get('Secret', 'regcred', 'a') ?? { metadata: {} };
    expect(metadata.labels).toMatchObject({ ...labels, tier: 'two' });
    expect(metadata.annotations).toMatchObject({ note: 'y', 'reeve.dev/adopted': 'true' });
  }
});
