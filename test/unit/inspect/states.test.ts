// The state that commands look at: objects by kind and name, what replaces what, and what files lack.
import { describe, expect, test } from 'vitest';
import type { Install } from '../../../src/policy/terms/install.ts';
import { clusterState, withObjects } from '../../../src/inspect/input/cluster-state.ts';
import { kubeObjectsOf, stateOfFiles } from '../../../src/inspect/input/file-state.ts';
import { applied, loadState, namespaceType } from '../../../src/inspect/input/loaded-state.ts';
import { findInstall, keepsReports } from '../../../src/cli/input/find-install.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { readObjects } from '../../../src/state/yaml-files.ts';

const install: Install = findInstall([], {});
const files = (text: string) => kubeObjectsOf(readObjects({ file: 'f', text }).objects);
const secretType = { apiVersion: 'v1', kind: 'Secret' };

function secret(name: string, more: object = {}): KubeObject {
  return { ...secretType, metadata: { name, namespace: 'a', uid: name, resourceVersion: '1' }, ...more };
}

function stateWith(...objects: readonly KubeObject[]) {
  return stateOfFiles(objects, install);
}

test('a Secret of a file is read as the API server stores it', () => {
  const text =
    '{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}, data: {x: eA==, y: eQ==}, stringData: {y: z}}';
  const { uid: _uid, resourceVersion: _version, ...stored } = files(text).objects[0]?.metadata ?? {};
  expect(stored).toEqual({ name: 'a', namespace: 'b' });
  expect(files(text).objects[0]).toMatchObject({ type: 'Opaque', data: { x: 'eA==', y: 'eg==' } });
  expect(files(text).objects[0]).not.toHaveProperty('stringData');
});

test('the spec of a policy in a file has its fields in the order in which the API server stores them', () => {
  const text =
    '{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p}, spec: {match: {names: [b, a]}, contents: {b: 1, a: 2}}}';
  expect(JSON.stringify(files(text).objects[0]?.['spec'])).toBe(
    '{"contents":{"a":2,"b":1},"match":{"names":["b","a"]}}',
  );
});

test('a state finds objects by kind, namespace and name', () => {
  const state = stateWith(secret('x'), secret('y'));
  expect(state.objects(secretType)).toHaveLength(2);
  expect(state.find(secretType, 'a', 'x')?.metadata.uid).toBe('x');
  expect(state.find(secretType, '', 'x')).toBeUndefined();
  expect(state.objects({ apiVersion: 'v2', kind: 'Secret' })).toEqual([]);
});

test('a state keeps the later one of two objects of a name', () => {
  const state = clusterState(stateWith(), [secret('x'), secret('x', { type: 'later' })]);
  expect(state.objects(secretType)).toEqual([secret('x', { type: 'later' })]);
});

test('a state with other objects has these in place of those of the same names', () => {
  const state = withObjects(stateWith(secret('x'), secret('y')), [secret('x', { type: 'new' }), secret('z')]);
  expect(state.objects(secretType).map(({ metadata, type }) => [metadata.name, type])).toEqual([
    ['y', undefined],
    ['x', 'new'],
    ['z', undefined],
  ]);
  expect(state.find(secretType, 'a', 'y')).toBeDefined();
});

describe('objects of files', () => {
  test('objects of files get an identity and a version, and keep only the used confirmation of their status', () => {
    const { objects } = files(
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\nstatus: {phase: Active}\n---\n' +
        'apiVersion: v1\nkind: X\nmetadata: {name: b, uid: u, resourceVersion: "7"}\nstatus: {confirmationUsed: "3", x: 1}',
    );
    expect(objects).toEqual([
      { ...namespaceType, metadata: { name: 'a', uid: 'file:1', resourceVersion: '1' } },
      {
        apiVersion: 'v1',
        kind: 'X',
        metadata: { name: 'b', uid: 'u', resourceVersion: '7' },
        status: { confirmationUsed: '3' },
      },
    ]);
  });

  test.each([
    ['kind: X\nmetadata: {name: a}', 'f:1:1: apiVersion: found nothing; accepted: text that is not empty'],
    [
      'apiVersion: v1\nkind: X\nmetadata: {}',
      'f:3:1: metadata.name: found nothing; accepted: a text without line breaks and control characters',
    ],
    [
      'apiVersion: v1\nkind: X\nmetadata: {name: a, labels: {b: 1}}',
      'f:3:33: metadata.labels.b: found 1; accepted: text',
    ],
    ['secret text', 'f:1:1: the object: found no object; accepted: an object of Kubernetes'],
  ])('%j has a problem with its place', (text, expected) => {
    const { objects, problems } = files(text);
    expect(objects).toEqual([]);
    expect(
      problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`),
    ).toEqual([expected]);
  });

  test('objects of files have a default ServiceAccount in each namespace, unless the files hold ServiceAccounts', () => {
    const type = { apiVersion: 'v1', kind: 'ServiceAccount' };
    const namespace = { ...namespaceType, metadata: { name: 'a' } };
    expect(stateWith(namespace).find(type, 'a', 'default')).toBeDefined();
    const account = { ...type, metadata: { name: 'x', namespace: 'a' } };
    expect(stateWith(namespace, account).find(type, 'a', 'default')).toBeUndefined();
  });
});

const stored: KubeObject = {
  apiVersion: 'reeve.dev/v1alpha1',
  kind: 'NamespacePolicy',
  metadata: {
    name: 'p',
    uid: 'u',
    resourceVersion: '9',
    generation: 4,
    finalizers: ['x'],
    labels: { a: '1', b: '1' },
  },
  spec: { suspend: true },
  status: { confirmationUsed: '3' },
};
const written = (spec: object): KubeObject => ({
  ...stored,
  metadata: { name: 'p', uid: 'file:1', resourceVersion: '1', labels: { b: '2' } },
  spec,
});
const after = (spec: object) => applied(stateWith(stored), [written(spec)]).objects(stored as never)[0];

test('an apply keeps identity, finalizers and status, adds labels, and counts the generation of a new spec', () => {
  expect(after({})).toEqual({
    ...stored,
    spec: {},
    metadata: { ...stored.metadata, generation: 5, labels: { a: '1', b: '2' }, annotations: {} },
  });
  expect(after({ suspend: true })?.metadata['generation']).toBe(4);
});

test('the engine sees the providers and namespaces of a state, and leaves out those of the install', () => {
  const { objects } = files(
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n' +
      'apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: {name: p}\nspec: {}\n---\n' +
      'apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: {name: bad}\nspec: {mach: {}}',
  );
  const cluster = loadState(stateWith(...objects));
  const snapshot = cluster.snapshot();
  expect(snapshot.policies.policies.map(({ id }) => id)).toEqual(['NamespacePolicy/p']);
  expect(cluster.provider('NamespacePolicy/bad')?.standing).toBe('refused');
  expect([...snapshot.namespaces()]).toHaveLength(1);
  expect(snapshot.policies.isExcluded('reeve-system')).toBe(true);
});

describe('what an install allows', () => {
  const deployment = (args: readonly string[], env: readonly object[] = []): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'reeve', labels: { 'app.kubernetes.io/part-of': 'reeve' } },
    spec: { template: { spec: { containers: [{ args, env }] } } },
  });

  test('without a Deployment, it is assumed to have the default flags', () => {
    expect(install).toMatchObject({ isAssumed: true, namespace: 'reeve-system', secretNames: undefined });
  });

  test('the flags and variables of the Deployment count, and flags of the command override them', () => {
    const found = [
      deployment(['run', '--role=webhook', '--shared-namespace=w']),
      deployment(
        ['run', '--role=reconciler', '--namespace=n', '--resource-kind=v1/ConfigMap'],
        [{ name: 'REEVE_SECRET_NAME', value: 'a,b' }],
      ),
    ];
    expect(findInstall(found, { sharedNamespace: ['s'] })).toMatchObject({
      isAssumed: false,
      namespace: 'n',
      sourceNamespaces: ['s'],
      resourceKinds: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
      secretNames: ['a', 'b'],
    });
  });

  test.each([
    [true, ['run', '--reports']],
    [true, ['run', '--role=reconciler', '--reports=true']],
    [false, ['run', '--role=webhook', '--reports']],
    [false, ['run']],
  ])('%s: the reconciler of a Deployment with the arguments %j keeps Reports', (keeps, args) => {
    expect(keepsReports([deployment(args), deployment(['run', '--role=webhook'])])).toBe(keeps);
  });

  test.each([[['serve']], [['run', '--flag-of-another-version']], [[]]])(
    'a Deployment with the arguments %j says nothing',
    (args) => {
      expect(findInstall([deployment(args)], {}).isAssumed).toBe(true);
    },
  );
});
