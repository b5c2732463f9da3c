import { expect, test } from 'vitest';
import { shareOf, team, teams } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

async function begun(labels: object): Promise<Harness> {
  const h = harness();
  h.namespace('reeve-shared');
  h.namespace('a', team);
  h.secret('reeve-shared', 'regcred', { k: 'v', l: 'w' });
  h.share('s', shareOf({ target: { name: 'regcred', labels } }));
  h.start();
  await h.settle();
  return h;
}

const marks = { 'app.kubernetes.io/managed-by': 'reeve', 'reeve.dev/secretshare': 's' };
const labelsOf = (h: Harness) => h.get('Secret', 'regcred', 'a')?.metadata.labels;

test('a label that is removed from a share is removed from its copies', async () => {
  const h = await begun({ x: '1', y: '2' });
  expect(labelsOf(h)).toMatchObject({ x: '1', y: '2' });
  h.share('s', shareOf({ target: { name: 'regcred', labels: { y: '2' } } }));
  await h.settle();
  expect(labelsOf(h)).toEqual({ ...marks, y: '2' });
});

test('a label and a key that are removed from a share together are both removed from its copies', async () => {
  const h = await begun({ x: '1' });
  h.secret('reeve-shared', 'regcred', { k: 'v' });
  h.share('s', shareOf({ target: { name: 'regcred' } }));
  await h.settle();
  expect(labelsOf(h)).toEqual(marks);
  expect(h.get('Secret', 'regcred', 'a')?.['data']).toEqual({ k: btoa('v') });
});

test('defaults of a deleted policy are removed from copies', async () => {
  const h = await begun({});
  const defaults = { labels: { x: '1' }, annotations: { note: 'n' } };
  h.policy('p', { match: teams, secrets: { defaults } });
  await h.settle();
  // A copy is written again when its form changes.
  h.share('s', shareOf({ target: { name: 'regcred', labels: { z: '3' } } }));
  await h.settle();
  expect(labelsOf(h)).toMatchObject({ x: '1', z: '3' });
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect(labelsOf(h)).toEqual({ ...marks, z: '3' });
  expect(h.get('Secret', 'regcred', 'a')?.metadata.annotations).not.toHaveProperty('note');
});

test('the hash of the form of a copy does not depend on its data', async () => {
  const h = await begun({ x: '1' });
  const applied = () => h.get('Secret', 'regcred', 'a')?.metadata.annotations?.['reeve.dev/applied'];
  const before = applied();
  expect(before).toBeDefined();
  h.secret('reeve-shared', 'regcred', { k: 'another' });
  await h.settle();
  expect(h.get('Secret', 'regcred', 'a')?.['data']).toEqual({ k: btoa('another') });
  expect(applied()).toBe(before);
});
