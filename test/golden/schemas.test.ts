// The JSON Schemas in /schemas hold for every golden output and for every sample.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readYamlFiles, readObjects } from '../../src/state/yaml-files.ts';
import { ownMember } from '../../src/base/json.ts';
import { schemaFiles } from '../checks/schema-files.ts';
import { schemaProblems } from '../support/json-schema-problems.ts';

const schemas = new Map(schemaFiles().map(({ path, text }) => [path, JSON.parse(text) as unknown] as const));

test.each([
  ['check-results', 'test/fixtures/checks/expected/findings.json'],
  ['plan', 'test/fixtures/plan/expected/plan.json'],
  ['adoption', 'test/fixtures/commands/adopt-policy.json'],
  ['adoption', 'test/fixtures/commands/adopt-share.json'],
  ['confirmation', 'test/fixtures/commands/confirm-held.json'],
  ['confirmation', 'test/fixtures/commands/confirm-deletion.json'],
  ['report', 'test/fixtures/report/expected/report.json'],
  ['import', 'test/fixtures/import-output/teams.json'],
  ['test-results', 'test/fixtures/suites/expected/results.json'],
])('the schema %s holds for %s', (name, path) => {
  const value = JSON.parse(readFileSync(path, 'utf8')) as unknown;
  expect(schemaProblems(schemas.get(`schemas/${name}.json`), value)).toEqual([]);
  expect(schemaProblems(schemas.get(`schemas/${name}.json`), { ...(value as object), more: 1 })).toEqual([
    '$: unknown more',
  ]);
});

describe('the schemas of our kinds', () => {
  test('the schemas of our kinds hold for every sample', async () => {
    const { files } = await readYamlFiles('manifests/samples');
    const objects = files.flatMap((file) => readObjects(file).objects);
    const checked = objects.flatMap(({ value }) => {
      const schema = schemas.get(`schemas/${String(ownMember(value, 'kind')).toLowerCase()}.json`);
      return schema === undefined ? [] : [schemaProblems(schema, value)];
    });
    expect(checked.length).toBeGreaterThan(30);
    expect(checked.flat()).toEqual([]);
  });

  test('the schemas of our kinds find a field that is misspelled, and a name that is too long', () => {
    const policy = {
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'NamespacePolicy',
      metadata: { name: 'a'.repeat(64) },
      spec: { mach: {} },
    };
    expect(schemaProblems(schemas.get('schemas/namespacepolicy.json'), policy)).toEqual([
      '$.metadata.name: maxLength',
      '$.spec: unknown mach',
    ]);
  });
});
