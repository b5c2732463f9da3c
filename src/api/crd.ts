// Writes the CustomResourceDefinitions of NamespacePolicy and SecretShare from their definitions.
import type { KubeObject } from '../base/kube-object.ts';
import { apiVersion, category, group, version } from './names.ts';
import { namespacePolicyKind, namespacePolicySchemas } from './namespace-policy/namespace-policy.ts';
import type { PrintColumn } from './print-columns.ts';
import { toOpenApi, type OpenApi } from './schema/openapi.ts';
import type { Schema, TextSchema } from './schema/schema.ts';
import { secretShareKind, secretShareSchemas } from './secret-share/secret-share.ts';
import { stringifyYaml } from '../base/yaml.ts';
import { namespacePolicyColumns } from './namespace-policy/status.ts';
import { secretShareColumns } from './secret-share/status.ts';

interface KindDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortName: string;
  readonly schemas: {
    readonly description: string;
    readonly name: TextSchema;
    readonly spec: Schema;
    readonly status: Schema;
  };
  readonly columns: readonly PrintColumn[];
}

const namespacePolicyDefinition: KindDefinition = {
  kind: namespacePolicyKind,
  plural: 'namespacepolicies',
  singular: 'namespacepolicy',
  shortName: 'nspol',
  schemas: namespacePolicySchemas,
  columns: namespacePolicyColumns,
};

const secretShareDefinition: KindDefinition = {
  kind: secretShareKind,
  plural: 'secretshares',
  singular: 'secretshare',
  shortName: 'sshare',
  schemas: secretShareSchemas,
  columns: secretShareColumns,
};

export function namespacePolicyCrd(): KubeObject {
  return crdOf(namespacePolicyDefinition);
}

export function secretShareCrd(): KubeObject {
  return crdOf(secretShareDefinition);
}

function crdOf(definition: KindDefinition): KubeObject {
  const { kind, plural, singular, shortName, columns } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        shortNames: [shortName],
        categories: [category],
      },
      scope: 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns,
          subresources: { status: {} },
          schema: { openAPIV3Schema: rootSchema(definition) },
        },
      ],
    },
  };
}

function rootSchema({ kind, schemas: { description, name, spec, status } }: KindDefinition): OpenApi {
  return {
    description,
    type: 'object',
    required: ['spec'],
    properties: {
      // `kubectl explain` prints these descriptions too.
      apiVersion: { type: 'string', description: `The group and version of this object: ${apiVersion}.` },
      kind: { type: 'string', description: `The kind of this object: ${kind}.` },
      // For metadata, the API server accepts a schema of the name only, without a description.
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: name.maxLength } } },
      spec: toOpenApi(spec),
      status: toOpenApi(status),
    },
  };
}

export interface GeneratedFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export function generatedCrds(): readonly GeneratedFile[] {
  const header = '# Generated from src/api: change that and run `npm run generate`.\n';
  return [namespacePolicyDefinition, secretShareDefinition].map((definition) => ({
    path: `manifests/crds/${group}_${definition.plural}.yaml`,
    text: header + stringifyYaml(crdOf(definition)),
  }));
}
