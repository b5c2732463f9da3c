// Golden cases of intents: what each adapter gives for each id, or why it gives nothing.
//
// `npm run test:update` rewrites test/fixtures/intents; then read the difference.
import { kinds } from '../../src/api/kinds.ts';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { knownIntents } from '../../src/api/intents/intent-ids.ts';
import { apiVersion } from '../../src/schema/names.ts';
import { stringifyYaml } from '../../src/base/yaml.ts';
import { intentAdapters } from '../../src/policy/intents/adapters.ts';
import { groupKind } from '../../src/base/object-type.ts';
import { intentCases, intentOf, intentRenderings, rendered, targetOf } from '../support/intent-cases.ts';

describe.each(Object.entries(intentCases))('%s', (id, list) => {
  test('each adapter gives what its file in test/fixtures/intents says', async () => {
    const shown = Object.fromEntries(list.map((each) => [each.title, rendered(id, each)]));
    await expect(stringifyYaml(shown)).toMatchFileSnapshot(`../fixtures/intents/${id}.yaml`);
  });
});

test('each known id has a file, and no other file is there', () => {
  const files = readdirSync(join(import.meta.dirname, '../fixtures/intents'));
  expect(files.toSorted()).toEqual(Object.keys(knownIntents).map((id) => `${id}.yaml`));
});

describe.each(intentRenderings)('$title: what $adapter gives', ({ adapter, rendering }) => {
  test('what an adapter gives is accepted in a policy', () => {
    const { resources = [], serviceAccounts = [], namespaces } = rendering;
    const escaped = JSON.parse(JSON.stringify(resources).replaceAll('${', '$${')) as unknown;
    const parsed = kinds.NamespacePolicy.parse({
      apiVersion,
      kind: 'NamespacePolicy',
      metadata: { name: 'bound' },
      spec: {
        contents: { resources: escaped, serviceAccounts },
        ...(namespaces === undefined ? {} : { namespaces }),
      },
    });
    expect(parsed).toMatchObject({ ok: true });
  });

  test('what an adapter gives has only the kinds that the adapter provides', () => {
    const provides = intentAdapters.find(({ id }) => id === adapter)?.provides.map(groupKind);
    const given = rendering.resources?.map(groupKind) ?? [];
    expect(given.filter((kind) => provides?.includes(kind) !== true)).toEqual([]);
  });
});

test('no two adapters and no two intents give an object of the same kind and name', () => {
  const [one, other] = [intentOf('escapeToHost'), intentOf('escapeToHost')];
  const target = targetOf({ title: '' });
  const names = [one, { ...other, name: 'the-escapetohost-chroot' }]
    .flatMap((intent) =>
      intentAdapters
        .filter((each) => each.supports(intent, undefined) === true)
        .map((each) => each.render(intent, target)),
    )
    .flatMap(({ resources = [] }) => resources.map((each) => `${groupKind(each)}/${each.metadata.name}`));
  expect(names).toHaveLength(6);
  expect(new Set(names).size).toBe(names.length);
});

test('only an adapter without an image of a scanner lacks something', () => {
  const lacks = (tlsScanImage: string | undefined) =>
    intentAdapters.flatMap(({ id, lacks: check }) =>
      check?.({ resourceKinds: undefined, tlsScanImage }) === undefined ? [] : [id],
    );
  expect(lacks('registry.example.com/k8tls:v0.1.0')).toEqual([]);
  expect(lacks(undefined)).toEqual(['tls-scan']);
});
