// Writes /schemas: JSON Schemas of our kinds and of suites for editors, and of the JSON that commands print.
import { kindDefinitions } from '../../src/api/kinds.ts';
import type { KindDefinition } from '../../src/api/kind.ts';
import type { GeneratedFile } from './crd-files.ts';
import { apiVersion } from '../../src/schema/names.ts';
import { toJsonSchema, type JsonSchema } from '../../src/schema/json-schema.ts';
import { outputSchemas } from '../../src/inspect/output-schemas/outputs.ts';
import { suiteSchema } from '../../src/inspect/suites/suite.ts';

export function schemaFiles(): readonly GeneratedFile[] {
  return [
    ...kindDefinitions.map((definition) =>
      fileOf(definition.kind.toLowerCase(), definition.kind, kindSchema(definition)),
    ),
    fileOf('suite', 'Suite', toJsonSchema(suiteSchema)),
    ...Object.entries(outputSchemas).map(([name, schema]) => fileOf(name, name, toJsonSchema(schema))),
  ];
}

function fileOf(name: string, title: string, schema: JsonSchema): GeneratedFile {
  const whole = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `https://reeve.dev/schemas/v1/${name}.json`,
    title,
    ...schema,
  };
  return { path: `schemas/${name}.json`, text: `${JSON.stringify(whole, undefined, 2)}\n` };
}

/** The API server adds more fields to the metadata, and Reeve writes the status. */
function kindSchema({ kind, scope, schemas }: KindDefinition): JsonSchema {
  const inNamespace = scope === 'Namespaced' ? { namespace: { type: 'string' } } : {};
  return {
    description: schemas.description,
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      apiVersion: { type: 'string', enum: [apiVersion] },
      kind: { type: 'string', enum: [kind] },
      metadata: {
        type: 'object',
        required: ['name'],
        properties: { name: toJsonSchema(schemas.name), ...inNamespace },
      },
      spec: toJsonSchema(schemas.spec),
      status: { type: 'object' },
    },
    additionalProperties: false,
  };
}
