// Which existing Namespaces a plan says would be refused, if someone created them again.
import { expect, test } from 'vitest';
import { findInstall } from '../../../src/cli/input/find-install.ts';
import { kubeObjectsOf, stateOfFiles } from '../../../src/inspect/input/file-state.ts';
import { planCluster } from '../../../src/inspect/plan/plan-cluster.ts';
import { readObjects } from '../../../src/state/yaml-files.ts';

const objectsOf = (text: string) => kubeObjectsOf(readObjects({ file: 'f', text }).objects).objects;
const policyWith = (spec: string) =>
  `{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p}, spec: {match: {names: [shop]}, ${spec}}}`;
const exceptionUntil = (time: string) =>
  `exceptions: [{namespaces: [shop], rules: [namespaces.required], expiresAt: "${time}", reason: a}]`;
const base = stateOfFiles(
  objectsOf('{apiVersion: v1, kind: Namespace, metadata: {name: shop}}'),
  findInstall([], {}),
);

test.each([
  [
    'a required label that it lacks',
    'namespaces: {required: {labels: {env: {values: [dev]}}}}',
    ['namespaces.required'],
  ],
  ['a label that a creation would get by default', 'namespaces: {defaults: {labels: {env: dev}}}', []],
  [
    'a required label that a creation would get by default',
    'namespaces: {required: {labels: {env: {values: [dev]}}}, defaults: {labels: {env: dev}}}',
    [],
  ],
  [
    'a required label whose default is not accepted',
    'namespaces: {required: {labels: {env: {values: [dev]}}}, defaults: {labels: {env: "${namespaceObject.metadata.name}"}}}',
    ['namespaces.required'],
  ],
  [
    'a required label whose exception has ended',
    `namespaces: {required: {labels: {env: {}}}}, ${exceptionUntil('2026-10-31T00:00:00Z')}`,
    ['namespaces.required'],
  ],
  [
    'a required label with an exception',
    `namespaces: {required: {labels: {env: {}}}}, ${exceptionUntil('2026-11-02T00:00:00Z')}`,
    [],
  ],
  [
    'a required label where violations are only reported',
    'namespaces: {required: {labels: {env: {}}}}, validationActionOverrides: [{names: [shop], actions: [Warn]}]',
    [],
  ],
  [
    'a required label where an override denies',
    'validationActions: [Warn], namespaces: {required: {labels: {env: {}}}}, validationActionOverrides: [{names: [shop], actions: [Deny]}]',
    ['namespaces.required'],
  ],
])('%s', async (_, spec, rules) => {
  const objects = objectsOf(policyWith(spec));
  const plan = await planCluster({ base, objects, now: new Date('2026-11-01T00:00:00Z') });
  const rows = plan.namespaces.flatMap(({ changes }) => changes);
  const refused = rows.filter(({ action }) => action === 'refused-if-recreated');
  expect(refused.map(({ reason }) => reason)).toEqual(rules);
});
