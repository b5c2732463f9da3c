// Which existing Namespaces a plan says would be refused, if someone created them again.
import { expect, test } from 'vitest';
import { installFacts } from '../../../src/cli/input/install-facts.ts';
import { kubeObjectsOf, stateOfFiles } from '../../../src/inspect/input/file-state.ts';
import { planCluster } from '../../../src/inspect/plan/plan-cluster.ts';
import { readObjects } from '../../../src/state/yaml-objects.ts';

const objectsOf = (text: string) => kubeObjectsOf(readObjects({ file: 'f', text }).objects).objects;
const policyWith = (namespaces: string) =>
  `{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p}, spec: {match: {names: [shop]}, namespaces: {${namespaces}}}}`;
const base = stateOfFiles(
  objectsOf('{apiVersion: v1, kind: Namespace, metadata: {name: shop}}'),
  installFacts([], {}),
);

test.each([
  ['a required label that it lacks', 'required: {labels: {env: {values: [dev]}}}', ['namespaces.required']],
  ['a label that a creation would get by default', 'defaults: {labels: {env: dev}}', []],
  [
    'a required label that a creation would get by default',
    'required: {labels: {env: {values: [dev]}}}, defaults: {labels: {env: dev}}',
    [],
  ],
  [
    'a required label whose default is not accepted',
    'required: {labels: {env: {values: [dev]}}}, defaults: {labels: {env: "${namespaceObject.metadata.name}"}}',
    ['namespaces.required'],
  ],
])('%s', async (_, namespaces, rules) => {
  const objects = objectsOf(policyWith(namespaces));
  const plan = await planCluster({ base, objects, now: new Date('2026-11-01T00:00:00Z') });
  const rows = plan.namespaces.flatMap(({ changes }) => changes);
  const refused = rows.filter(({ action }) => action === 'refused-if-recreated');
  expect(refused.map(({ reason }) => reason)).toEqual(rules);
});
