// Deletes the CustomResourceDefinitions of Reeve, alone and together: nothing that Reeve provided is deleted.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { kindFlags } from './support/engine-kinds.ts';
import { inTime } from './support/in-time.ts';
import {
  clusterBinding,
  configMap,
  intentBinding,
  namespaceObject,
  policy,
  securityIntent,
  type Ref,
} from './support/objects.ts';
import { secret, shareOf } from './support/secrets.ts';
import { Stage } from './support/stage.ts';

const plurals = [
  'namespacepolicies',
  'secretshares',
  'securityintents',
  'clustersecurityintentbindings',
  'securityintentbindings',
];
const definitions = plurals.map((plural) => `${plural}.reeve.dev`);
/** The first round starts the watches, the second one ends and starts them again, the third one shows that nothing is left over. */
const times = 3;

describeControllers('definitions that are deleted', { timeout: 600_000 }, () => {
  let cluster: ControlPlane;
  let stage: Stage;
  let reeve: Reeve;

  const namespaces = ['dd-a', 'dd-b'];
  const provided: readonly Ref[] = namespaces.flatMap((namespace) => [
    { kind: 'ConfigMap', name: 'settings', namespace },
    { kind: 'Secret', name: 'dd-share', namespace },
    { kind: 'NetworkPolicy', name: 'dd-all', namespace },
    { kind: 'NetworkPolicy', name: 'dd-own', namespace },
  ]);
  const owners = (namespace: string): readonly string[] => [
    'NamespacePolicy/dd-policy',
    'SecretShare/dd-share',
    'ClusterSecurityIntentBinding/dd-all',
    `SecurityIntentBinding/${namespace}/dd-own`,
  ];
  const provide = async (): Promise<void> => {
    await mustKubectl(['apply', '-f', 'manifests/crds'], cluster);
    const contents = { resources: [configMap('settings', { a: 'b' })] };
    const objects = [
      policy('dd-policy', { match: { names: ['dd-*'] }, contents }),
      shareOf('dd-share', { names: ['dd-*'] }),
      securityIntent('dd-all', { id: 'dnsManipulation' }),
      securityIntent('dd-own', { id: 'dnsManipulation' }),
      clusterBinding('dd-all', ['dd-*'], ['dd-all']),
      ...namespaces.map((namespace) => intentBinding({ name: 'dd-own', namespace }, { intents: ['dd-own'] })),
    ];
    await inTime(async () => (await stage.tryApply(objects, stage.emergency)).code).toBe(0);
    await inTime(() => stage.ownersOf(...provided)).toEqual(namespaces.flatMap(owners));
  };

  beforeAll(async () => {
    cluster = await startControlPlane();
    await installReeve(cluster);
    reeve = await startReeve(cluster, { args: kindFlags });
    stage = new Stage(cluster, 'dd-');
    await stage.apply(
      ...namespaces.map((name) => namespaceObject(name)),
      secret({ name: 'dd-share' }, { k: 'v' }),
    );
  });
  afterAll(async () => {
    await reeve.stop();
    await cluster.stop();
  });

  test.for([...definitions.map((name) => [name]), definitions])(
    'the objects of all providers stay when %s are deleted three times',
    async (deleted) => {
      await provide();
      for (let round = 0; round < times; round += 1) {
        const before = await stage.uidsOf(...provided);
        await mustKubectl(['delete', 'crd', ...deleted, '--timeout=60s'], cluster);
        expect(await stage.uidsOf(...provided)).toEqual(before);
        await provide();
        expect(await stage.uidsOf(...provided)).toEqual(before);
      }
      expect(reeve.hasEnded).toBe(false);
    },
  );
});
