// Lists our kinds, and writes their CustomResourceDefinitions.
import type { KubeObject } from '../base/metadata.ts';
import { apiVersion, category, group, version } from '../schema/names.ts';
import { namespacePolicyKind, namespacePolicySchemas } from './namespace-policy/namespace-policy.ts';
import type { PrintColumn } from './provider-fields.ts';
import { toOpenApi, type OpenApi } from '../schema/openapi.ts';
import type { ObjectSchema, TextSchema } from '../schema/schema.ts';
import { secretShareKind, secretShareSchemas, secretShareColumns } from './secret-share/secret-share.ts';
import { stringifyYaml } from '../base/yaml.ts';
import { namespacePolicyColumns } from './namespace-policy/status.ts';
import { clusterIntentBindingKind, clusterIntentBindingSchemas } from './intents/cluster-intent-binding.ts';
import {
  intentBindingKind,
  intentBindingSchemas,
  bindingColumns,
  securityIntentColumns,
} from './intents/intent-binding.ts';
import { securityIntentKind, securityIntentSchemas } from './intents/security-intent.ts';

/** One of our kinds, with everything that its definition contains. */
export interface KindDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly schemas: {
    readonly description: string;
    readonly name: TextSchema;
    readonly spec: ObjectSchema;
    /** Undefined if Reeve reports nothing about the kind. */
    readonly status?: ObjectSchema;
  };
  readonly columns: readonly PrintColumn[];
}

export const kindDefinitions: readonly KindDefinition[] = [
  {
    kind: namespacePolicyKind,
    plural: 'namespacepolicies',
    shortName: 'nspol',
    scope: 'Cluster',
    schemas: namespacePolicySchemas,
    columns: namespacePolicyColumns,
  },
  {
    kind: secretShareKind,
    plural: 'secretshares',
    shortName: 'sshare',
    scope: 'Cluster',
    schemas: secretShareSchemas,
    columns: secretShareColumns,
  },
  {
    kind: securityIntentKind,
    plural: 'securityintents',
    shortName: 'sint',
    scope: 'Cluster',
    schemas: securityIntentSchemas,
    columns: securityIntentColumns,
  },
  {
    kind: clusterIntentBindingKind,
    plural: 'clustersecurityintentbindings',
    shortName: 'csib',
    scope: 'Cluster',
    schemas: clusterIntentBindingSchemas,
    columns: bindingColumns,
  },
  {
    kind: intentBindingKind,
    plural: 'securityintentbindings',
    shortName: 'sib',
    scope: 'Namespaced',
    schemas: intentBindingSchemas,
    columns: bindingColumns,
  },
];

export function crdOf(definition: KindDefinition): KubeObject {
  const { kind, plural, shortName, scope, schemas, columns } = definition;
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
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: [category],
      },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns,
          ...(schemas.status === undefined ? {} : { subresources: { status: {} } }),
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
      ...(status === undefined ? {} : { status: toOpenApi(status) }),
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
  return kindDefinitions.map((definition) => ({
    path: `manifests/crds/${group}_${definition.plural}.yaml`,
    text: header + stringifyYaml(crdOf(definition)),
  }));
}
