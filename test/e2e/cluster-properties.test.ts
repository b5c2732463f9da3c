// Variables of the cluster on a real API server: a ClusterProperty changes what policies provide, and what their authors may read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject, policy, roleBinding } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'cl-cp-';
const name = `${prefix}region`;

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'clusterproperties.about.k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/3084' },
  },
  spec: {
    group: 'about.k8s.io',
    names: { kind: 'ClusterProperty', plural: 'clusterproperties' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { value: { type: 'string' } } } },
          },
        },
      },
    ],
  },
};

const property = (value: string) => ({
  apiVersion: 'about.k8s.io/v1alpha1',
  kind: 'ClusterProperty',
  metadata: { name: 'region.example.com' },
  spec: { value },
});

describeControllers('variables of the cluster', () => {
  const stage = new Stage(sharedCluster(), prefix);
  withReeve(stage);

  const spec = (read: string) => ({
    match: { names: [name] },
    variables: [{ name: 'region', expression: read }],
    contents: { roleBindings: [roleBinding('edit', 'k8s-${variables.region}')] },
  });
  const known = policy(name, spec("variables.cluster['region.example.com']"));
  const create = async (object: object): Promise<string> =>
    await mustKubectl(['apply', '-f', '-'], { ...stage.administrator, input: JSON.stringify(object) });
  const group = async (): Promise<string> =>
    await stage.kubectl('get', 'rolebinding', 'edit', '-n', name, '-o=jsonpath={.subjects[0].name}');

  beforeAll(async () => {
    await create(definition);
    await stage.kubectl('wait', '--for=condition=Established', 'crd', definition.metadata.name);
    await create(property('eu'));
    await stage.apply(namespaceObject(name));
  });

  afterAll(async () => {
    await stage.kubectl('delete', 'nspol', name, '--ignore-not-found');
    await stage.kubectl('delete', 'crd', definition.metadata.name);
  });

  test('a policy reads a property once the kind is served', async () => {
    await inTime(async () => (await stage.tryApply([known])).code).toBe(0);
    await inTime(group).toBe('k8s-eu');
    expect(await stage.condition({ kind: 'NamespacePolicy', name })).toBe('True Synced');
  });

  test('a changed property changes what the policy provides', async () => {
    expect(await create(property('us'))).toContain('configured');
    await inTime(group).toBe('k8s-us');
  });

  test('a policy that reads an unknown property is refused, and the known ones are named', async () => {
    const unknown = policy(name, spec("variables.cluster['zone.example.com']"));
    expect((await stage.tryApply([unknown])).stderr).toContain(
      'has no field zone.example.com; it has region.example.com',
    );
  });

  test('a deleted property keeps what the policy provides', async () => {
    await stage.kubectl('delete', 'clusterproperty', 'region.example.com');
    await inTime(() => stage.condition({ kind: 'NamespacePolicy', name })).toContain('False');
    expect(await group()).toBe('k8s-us');
  });
});
