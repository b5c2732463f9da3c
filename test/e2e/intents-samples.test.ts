// The samples of intents, applied as their README says, give what golden/intents lists: without engines, and after they come.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { installEngines, kindFlags } from './support/engine-kinds.ts';
import { inTime } from './support/in-time.ts';
import { clusterBinding, securityIntent, type StoredObject } from './support/objects.ts';
import { Stage } from './support/stage.ts';

const folder = 'manifests/samples/intents';
const files = globSync('*/*.yaml', { cwd: join(import.meta.dirname, '../..', folder) }).toSorted();
const commands = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/^ {4}kubectl (.+)$/gmu)];
const kinds = 'networkpolicies,configmaps';
type Unsupported = NonNullable<NonNullable<StoredObject['status']>['unsupported']>[number];

const engineKinds = ',policies.kyverno.io,kubearmorpolicies';

describeControllers('the samples of intents', () => {
  // Its own cluster: some samples match every namespace.
  let cluster: ControlPlane;
  let reeve: Reeve;
  let stage: Stage;
  /** What each file gives, by moment. */
  const given = new Map<string, string[]>();

  beforeAll(async () => {
    cluster = await startControlPlane({ audit: false });
    await installReeve(cluster);
    reeve = await startReeve(cluster, { args: kindFlags });
    stage = new Stage(cluster, '');
    for (const [, command = ''] of commands) await stage.kubectl(...command.split(' '));
    await record('without Kyverno and KubeArmor', kinds);
    await installEngines(cluster, 'kyverno', 'kubearmor');
    await until(
      async () => (await bindings()).every(({ status }) => (status?.unsupported ?? []).every(isForGood)),
      async () => JSON.stringify((await bindings()).map(({ status }) => status?.unsupported)),
    );
    await record('with the kinds of Kyverno and KubeArmor', `${kinds}${engineKinds}`);
  });
  afterAll(async () => {
    await reeve.stop();
    await cluster.stop();
  });

  async function bindings(): Promise<readonly StoredObject[]> {
    return await list('get', 'csib,sib', '--all-namespaces');
  }

  async function list(...args: readonly string[]): Promise<readonly StoredObject[]> {
    const { items } = JSON.parse(await stage.kubectl(...args, '-o=json')) as {
      readonly items: readonly StoredObject[];
    };
    return items;
  }

  /** Waits until Reeve has nothing left to do. */
  async function record(moment: string, kindsOfMoment: string): Promise<void> {
    const isSettled = ({ metadata, status }: StoredObject): boolean =>
      status?.observedGeneration === metadata.generation &&
      status?.synced === status?.desired &&
      status?.conditions?.some(({ type }) => type === 'Reconciling') === false;
    await until(
      async () => (await bindings()).every(isSettled),
      async () => JSON.stringify((await bindings()).filter((each) => !isSettled(each))),
    );
    const marked = await list(
      'get',
      kindsOfMoment,
      '--all-namespaces',
      '-l',
      'app.kubernetes.io/managed-by=reeve',
    );
    for (const binding of await bindings()) {
      const { kind, metadata } = binding;
      const file = files.find((each) => each === `${folderOf(kind)}/${metadata.name}.yaml`);
      if (file === undefined) throw new Error(`no sample is called ${metadata.name}`);
      const objects = marked.filter(
        (each) => each.metadata.labels?.[`reeve.dev/${kind.toLowerCase()}`] === metadata.name,
      );
      given.set(file, [...(given.get(file) ?? []), `# ${moment}`, ...told(binding, objects), '']);
    }
  }

  test.each(files)('%s gives what golden/intents lists', async (file) => {
    const text = (given.get(file) ?? []).join('\n');
    await expect(text).toMatchFileSnapshot(`golden/intents/${file.replace('.yaml', '.txt')}`);
  });

  test('what looks like an expression in the words of an intent is given to the engine as it is written', async () => {
    const description = 'In ${namespaceObject.metadata.name}, $${} and {{ request.object }}.';
    await stage.apply(
      securityIntent('words', { id: 'swDeploymentTools', description }),
      clusterBinding('words', ['shop'], ['words']),
    );
    const object = { kind: 'KubeArmorPolicy', name: 'words', namespace: 'shop' } as const;
    await inTime(() => stage.get(object)).toBeDefined();
    expect((await stage.mustGet(object))['spec']).toMatchObject({ message: description });
  });
});

/** True if neither engine could change it. */
function isForGood({ adapters = [] }: Unsupported): boolean {
  return !adapters.includes('kyverno') && !adapters.includes('kubearmor');
}

function folderOf(kind: string): string {
  return kind === 'ClusterSecurityIntentBinding' ? 'cluster-wide' : 'namespaced';
}

/** Returns the condition, what is missing, what the adapters give, and each object once with its namespaces. */
function told({ status }: StoredObject, objects: readonly StoredObject[]): readonly string[] {
  const resolved = status?.conditions?.find(({ type }) => type === 'IntentsResolved');
  const unsupported = (status?.unsupported ?? []).map(
    ({ intent, id, adapters = [], message }) =>
      `unsupported: ${intent} (${id}) [${adapters.join(' ')}] ${message}`,
  );
  const rendered = (status?.rendered ?? []).map(
    ({ adapter, intent, kind, name }) => `rendered: ${adapter} ${intent} ${kind} ${name}`,
  );
  const byName = Map.groupBy(objects, ({ kind, metadata }) => `${kind} ${metadata.name}`);
  const stored = [...byName].flatMap(([name, same]) => [
    `${name} in ${same.map(({ metadata }) => metadata.namespace).join(', ')}`,
    ...new Set(same.map(fieldsOf)),
  ]);
  return [`IntentsResolved ${resolved?.status} ${resolved?.reason}`, ...unsupported, ...rendered, ...stored];
}

/** Each field of the spec is one line. */
function fieldsOf({ spec, data }: StoredObject): string {
  return Object.entries({ ...(spec as object), ...(data === undefined ? {} : { data }) })
    .map(([field, value]) => `  ${field}: ${JSON.stringify(value)}`)
    .join('\n');
}
