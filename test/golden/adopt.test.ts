// What `reeve adopt` shows before it asks, in each format.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readCommand } from '../../src/cli/commands.ts';
import { adoptersOf, adoptionText } from '../../src/cli/commands/adopt.ts';
import { jsonText } from '../../src/cli/output/data-text.ts';
import { styleFor } from '../../src/cli/output/style.ts';
import { findAdoption } from '../../src/inspect/actions/adoption.ts';
import { withObjects, type ClusterState } from '../../src/inspect/input/cluster-state.ts';
import type { ProviderId } from '../../src/policy/terms/provider-id.ts';
import { stateIn } from '../support/file-states.ts';

const fixtures = 'test/fixtures/commands';
const state = await stateIn(`${fixtures}/state`);

async function adoption(
  id: ProviderId,
  given: Partial<{ base: ClusterState; namespaces: readonly string[] }> = {},
) {
  const { base = state, namespaces = [] } = given;
  return await findAdoption({
    base,
    id,
    namespaces,
    now: new Date('2026-11-23T08:00:00Z'),
    readSecret: ({ namespace = '', name, ...type }) => Promise.resolve(base.find(type, namespace, name)),
  });
}

const plain = { isWhole: true, paint: styleFor(false) };

describe('the objects that are in the way of a provider', () => {
  test.each([
    ['policy', 'NamespacePolicy/team'],
    ['share', 'SecretShare/regcred'],
  ] as const)('the objects in the way of the kind %s are the same as in the files', async (name, id) => {
    const { output } = await adoption(id);
    await expect(adoptionText(output, plain)).toMatchFileSnapshot(`../fixtures/commands/adopt-${name}.text`);
    await expect(jsonText(output)).toMatchFileSnapshot(`../fixtures/commands/adopt-${name}.json`);
  });

  test('the objects that are in the way of a provider are offered without those that have finalizers, a controller, or the label of Reeve without an owner', async () => {
    const marked = state.objects({ apiVersion: 'v1', kind: 'ResourceQuota' })[0];
    if (marked === undefined) throw new Error('the fixture has no ResourceQuota');
    const labels = { 'app.kubernetes.io/managed-by': 'reeve' };
    const base = withObjects(state, [{ ...marked, metadata: { ...marked.metadata, labels } }]);
    const names = async (of: ClusterState) =>
      (await adoption('NamespacePolicy/team', { base: of })).offers.map(
        ({ kind, metadata }) => `${metadata.namespace ?? ''} ${kind ?? ''}`,
      );
    expect(await names(state)).toEqual(['team-a ResourceQuota', 'team-a RoleBinding', 'team-b RoleBinding']);
    expect(await names(base)).toEqual(['team-a RoleBinding', 'team-b RoleBinding']);
  });

  test('the objects that are in the way of a provider are narrowed to the namespaces that are named', async () => {
    const { output } = await adoption('NamespacePolicy/team', { namespaces: ['team-b', 'team-d'] });
    expect(output.namespaces.map(({ name }) => name)).toEqual(['team-b']);
    expect(output.adoptable).toBe(1);
  });

  test('the objects that are in the way of a provider are none for a provider without a conflict', async () => {
    const { output, offers } = await adoption('NamespacePolicy/team', { namespaces: ['team-d'] });
    expect(offers).toEqual([]);
    expect(adoptionText(output, plain)).toBe(
      'No object of another client is in the way of NamespacePolicy/team.\n',
    );
    expect(adoptionText({ ...output, complete: false }, plain)).toContain(
      'among what this account may read.',
    );
  });
});

test('no value of a Secret is shown', async () => {
  const text = await readFile(`${fixtures}/state/others.yaml`, 'utf8');
  const values = [...text.matchAll(/(?:dockerconfigjson|old|password): ([\w=]+)/g)].map(
    ([, value = '']) => value,
  );
  expect(values).toHaveLength(3);
  const { output } = await adoption('SecretShare/regcred');
  const printed = adoptionText(output, plain) + jsonText(output);
  for (const value of values) {
    expect(printed).not.toContain(value);
    expect(printed).not.toContain(Buffer.from(value, 'base64').toString());
  }
  expect(printed).not.toContain('canary');
});

test.each([
  [[], 'give one of --policy, --share and --binding, or -f'],
  [['--policy', 'a', '--share', 'b'], 'give one of --policy, --share and --binding, or -f'],
  [['-f', '-'], '-f - leaves no standard input for the question: add --yes or --dry-run'],
  [['--policy', 'share/b'], '--policy: "share/b" is not valid; accepted: NAME or policy/NAME'],
])('the arguments %j are refused', async (args, problem) => {
  expect(await readCommand(['adopt', ...args], {})).toMatchObject({
    kind: 'wrong',
    problems: [problem],
    code: 2,
  });
});

test('the binding of a namespace is named with its namespace', async () => {
  expect(await readCommand(['adopt', '--binding', 'shop/no-egress', '-n', 'shop'], {})).toMatchObject({
    kind: 'adopt',
  });
});

describe('with -f', () => {
  const objects = ['policy', 'share'].map((name) => ({
    apiVersion: 'reeve.dev/v1alpha1',
    kind: name === 'policy' ? 'NamespacePolicy' : 'SecretShare',
    metadata: { name },
  }));
  const adopters = async (...args: readonly string[]) => {
    const command = await readCommand(['adopt', '-f', 'x', ...args], {});
    if (command.kind !== 'adopt') throw new Error(JSON.stringify(command));
    return adoptersOf(command.settings, [...objects, { kind: 'Secret', metadata: { name: 's' } }]);
  };

  test('all policies and shares of the files adopt', async () => {
    expect(await adopters()).toEqual(['NamespacePolicy/policy', 'SecretShare/share']);
  });

  test('a policy that is named adopts alone', async () => {
    expect(await adopters('--policy', 'policy')).toEqual(['NamespacePolicy/policy']);
  });
});
