// Property of `reeve import`: applying what it prints, and adopting as it says, deletes nothing and changes no object of the older tool.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { adoptLabel, managedByLabel } from '../../src/schema/names.ts';
import { type KubeObject, nameOf, withMetadata } from '../../src/base/metadata.ts';
import { findInstall } from '../../src/cli/input/find-install.ts';
import { importFrom, importSources } from '../../src/importers/importers.ts';
import { movedSecrets } from '../../src/importers/contents.ts';
import { findAdoption } from '../../src/inspect/actions/adoption.ts';
import { withObjects, type ClusterState } from '../../src/inspect/input/cluster-state.ts';
import { kubeObjectsOf, readObjectFiles } from '../../src/inspect/input/file-state.ts';
import { applied } from '../../src/inspect/input/loaded-state.ts';
import type { PlanChange } from '../../src/inspect/output-schemas/plan-output.ts';
import { planCluster } from '../../src/inspect/plan/plan-cluster.ts';
import type { ProviderId } from '../../src/policy/terms/provider-id.ts';
import { importCases } from '../support/import-cases.ts';
import { stateIn } from '../support/file-states.ts';

const now = new Date('2026-11-23T08:00:00Z');
const stdin = () => Promise.resolve('');

/** `made.yaml` has what the older tool has created from `input.yaml`. */
const moves = importCases().flatMap((given) => {
  const path = join('test/fixtures/importers', given.source, given.name);
  const [input, made] = [join(path, 'input.yaml'), join(path, 'made.yaml')];
  return existsSync(made) ? [{ ...given, input, made }] : [];
});

/** Objects that stay beside those of Reeve, which have other names, and one that Reeve would create once. */
const besides = [
  'RoleBinding/team-a/team-a-admins',
  'RoleBinding/oil-dev/capsule-oil-0-2f1d9b',
  'NetworkPolicy/shop/shop-deny-external-network',
];

const allowed = ['v1/ConfigMap', 'v1/ResourceQuota', 'v1/LimitRange', 'v1/ServiceAccount'];
const install = findInstall([], { resourceKind: [...allowed, 'networking.k8s.io/v1/NetworkPolicy'] });

test('each source has objects that the tool has created', () => {
  expect([...new Set(moves.map(({ source }) => source))]).toEqual([...importSources]);
});

describe.each(moves)('the move from $source, $name', ({ source, objects, options, input, made }) => {
  const result = importFrom(source, objects, options);

  /** The state after a person has created the Secrets that move, and has applied what was printed. */
  async function afterApply(): Promise<ClusterState> {
    const providers = result.objects.map(({ object }) => object as KubeObject);
    const base = { ...(await stateIn(input, made)), install };
    return applied(base, [...movedSecrets(result.moved, objects).map(stored), ...providers]);
  }

  async function adoptions(base: ClusterState) {
    const ids = result.adopt.map((command) => {
      const [, flag, name = ''] = /--(policy|share) (\S+)/.exec(command) ?? [];
      return `${flag === 'share' ? 'SecretShare' : 'NamespacePolicy'}/${name}` as ProviderId;
    });
    return await Promise.all(
      ids.map((id) =>
        findAdoption({
          base,
          id,
          namespaces: [],
          now,
          readSecret: ({ namespace = '', name, ...type }) =>
            Promise.resolve(base.find(type, namespace, name)),
        }),
      ),
    );
  }

  test('a move adopts each object that the tool has created, and changes nothing but marks', async () => {
    const all = await adoptions(await afterApply());
    const rows = all.flatMap(({ output }) => output.namespaces.flatMap(({ changes }) => changes));
    const { located } = await readObjectFiles([made], { stdin });
    const ids = kubeObjectsOf(located)
      .objects.filter(({ kind }) => kind !== 'Namespace')
      .map((object) => `${object.kind ?? ''}/${object.metadata.namespace ?? ''}/${nameOf(object)}`);
    const adoptable = ids.filter((id) => !besides.includes(id));
    expect(rows.map(rowText).sort()).toEqual(adoptable.map((id) => `update ${id}: `).sort());
  });

  test('a move deletes nothing, before the adoption and after it', async () => {
    const base = await afterApply();
    const offers = (await adoptions(base)).flatMap((each) => each.offers);
    const marks = new Map([[adoptLabel, 'true']]);
    const marked = offers.map((object) => withMetadata(object, 'labels', marks));
    for (const state of [base, withObjects(base, marked)]) {
      const { namespaces, counts } = await planCluster({ base: state, objects: [], now });
      const rows = namespaces.flatMap(({ changes }) => changes.map(rowText));
      expect(rows.filter((row) => besides.some((id) => row.includes(id)))).toEqual([]);
      expect(Object.keys(counts).filter((each) => /^(?:delete|re-create|release|held)$/.test(each))).toEqual(
        [],
      );
    }
  });
});

/** Without the label that another program may have set as its own mark. */
function rowText({ action, object, diff = [] }: PlanChange): string {
  const { kind = '', namespace = '', name = '' } = object ?? {};
  const paths = diff.map(({ path }) => path).filter((path) => !path.includes(managedByLabel));
  return `${action} ${kind}/${namespace}/${name}: ${paths.join(' ')}`;
}

/** As the API server stores a Secret. */
function stored({ stringData, data, ...secret }: KubeObject): KubeObject {
  const texts = Object.entries((stringData ?? {}) as Readonly<Record<string, string>>);
  const encoded = texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { ...secret, data: { ...(data as object | undefined), ...Object.fromEntries(encoded) } };
}
