// The values of the chart, the flag and the program name the same adapters of intents.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { runSettings } from '../../../src/cli/commands/run.ts';
import { intentAdapters } from '../../../src/policy/intents/adapters.ts';

const ids = intentAdapters.map(({ id }) => id);

it('the chart offers all adapters by default, and refuses others', () => {
  const values = parse(readFileSync('manifests/chart/values.yaml', 'utf8')) as { intentAdapters: unknown };
  const schema = JSON.parse(readFileSync('manifests/chart/values.schema.json', 'utf8')) as {
    readonly properties: { readonly intentAdapters: { readonly items: unknown } };
  };
  expect(values.intentAdapters).toEqual(ids);
  expect(schema.properties.intentAdapters.items).toEqual({ enum: ids });
});

it('the flag offers all adapters by default', () => {
  expect(runSettings.intentAdapter.fallback?.value).toEqual(ids);
});
