// How `reeve check -f` judges objects of files by the policies and namespaces of a cluster.
import { expect, test } from 'vitest';
import { findInstall } from '../../../src/cli/input/find-install.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { checkWrittenObjects } from '../../../src/inspect/checks/written-objects.ts';
import { clusterState } from '../../../src/inspect/input/cluster-state.ts';
import { kubeObjectsOf, readObjectFiles } from '../../../src/inspect/input/file-state.ts';
import { applied } from '../../../src/inspect/input/loaded-state.ts';

const policy = (name: string, spec: object): KubeObject => ({
  apiVersion: 'reeve.dev/v1alpha1',
  kind: 'NamespacePolicy',
  metadata: { name, uid: name, resourceVersion: '1' },
  spec,
});
const policies = [
  policy('a', { namespaces: { defaults: { labels: { env: 'dev' } } } }),
  policy('b', {
    validationActions: ['Deny'],
    match: { namespaceSelector: { matchLabels: { env: 'dev' } } },
    secrets: { forbiddenTypes: ['Opaque'] },
  }),
];
const namespace: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'old', uid: 'old', resourceVersion: '1' },
};
const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: old}\ntype: Opaque\n';
const written = `${secret}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: old}\n`;

async function check(text: string, objects: readonly KubeObject[], ...unread: readonly string[]) {
  const { located } = await readObjectFiles(['-'], { stdin: () => Promise.resolve(text) });
  const base = clusterState(
    {
      origin: 'test',
      isCluster: true,
      install: findInstall([], {}),
      unread: unread.map((kind) => ({ kind, reason: 'this account may not read it' })),
      isServed: () => true,
      hasManagers: false,
    },
    objects,
  );
  const state = applied(base, kubeObjectsOf(located).objects);
  const now = new Date('2026-11-23T08:00:00Z');
  const { findings, unchecked } = await checkWrittenObjects({ located, base, state, now });
  return { about: findings.map((each) => each.about), reasons: unchecked.map(({ reason }) => reason) };
}

test('a Namespace that the files do not write gets no defaults before its objects are judged', async () => {
  expect(await check(secret, [namespace, ...policies])).toEqual({ about: [], reasons: [] });
});

test('a Namespace of the files gets its defaults before its objects are judged', async () => {
  expect(await check(written, [namespace, ...policies])).toEqual({ about: ['Secret old/s'], reasons: [] });
});

test.each([
  [[], 'there is no policy to judge them by: add one with -f'],
  [['NamespacePolicy'], 'the policies could not be read'],
])(
  'on a cluster without policies, with %j unread, the reason names no cluster to add',
  async (unread, reason) => {
    expect(await check(secret, [namespace], ...unread)).toEqual({ about: [], reasons: [reason] });
  },
);
