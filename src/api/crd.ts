// The CustomResourceDefinitions of our kinds, written from their definitions.
import { category, group, version } from './names.ts';
import { namespacePolicyKind, namespacePolicySchemas } from './namespace-policy.ts';
import { toOpenApi, type OpenApi } from './schema/openapi.ts';
import { stringifyYaml } from './yaml.ts';

interface PrintColumn {
  readonly name: string;
  readonly type: 'integer' | 'string' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Columns above 0 are shown with `-o wide` only. */
  readonly priority?: number;
}

/** `kubectl get nspol` */
const namespacePolicyColumns: readonly PrintColumn[] = [
  {
    name: 'Matched',
    type: 'integer',
    jsonPath: '.status.matched',
    description: 'How many namespaces the policy matches.',
  },
  {
    name: 'Desired',
    type: 'integer',
    jsonPath: '.status.desired',
    description: 'How many objects it wants in them.',
  },
  {
    name: 'Synced',
    type: 'integer',
    jsonPath: '.status.synced',
    description: 'How many of those are there and as they should be.',
  },
  {
    name: 'Conflicts',
    type: 'integer',
    jsonPath: '.status.conflicts',
    description: 'How many of those have the name of an object that somebody else owns.',
    priority: 1,
  },
  {
    name: 'Failed',
    type: 'integer',
    jsonPath: '.status.failed',
    description: 'How many of those could not be made or changed.',
    priority: 1,
  },
  {
    name: 'Violations',
    type: 'integer',
    jsonPath: '.status.violations',
    description: 'How many rules are broken by namespaces that are already there.',
  },
  {
    name: 'Actions',
    type: 'string',
    jsonPath: '.spec.validationActions',
    description: 'What happens when an object breaks a rule.',
    priority: 1,
  },
  {
    name: 'Suspended',
    type: 'boolean',
    jsonPath: '.spec.suspend',
    description: 'Whether the contents are left as they are.',
    priority: 1,
  },
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether all that is desired is there.',
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why it is ready, or not.',
    priority: 1,
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'When it was created.' },
];

/** `kubectl explain` prints these too; their text is that of the built-in kinds in meaning. */
const typeMeta = {
  apiVersion: { type: 'string', description: 'The group and version of this object: reeve.dev/v1alpha1.' },
  kind: { type: 'string', description: 'The kind of this object: NamespacePolicy.' },
};

function rootSchema(): OpenApi {
  const { description, name, spec, status } = namespacePolicySchemas;
  return {
    description,
    type: 'object',
    required: ['spec'],
    properties: {
      ...typeMeta,
      // Of metadata, the API server takes a schema for the name alone, and a bare one.
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: name.maxLength } } },
      spec: toOpenApi(spec),
      status: toOpenApi(status),
    },
  };
}

export function namespacePolicyCrd(): OpenApi {
  const plural = 'namespacepolicies';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind: namespacePolicyKind,
        listKind: `${namespacePolicyKind}List`,
        plural,
        singular: 'namespacepolicy',
        shortNames: ['nspol'],
        categories: [category],
      },
      scope: 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: namespacePolicyColumns,
          subresources: { status: {} },
          schema: { openAPIV3Schema: rootSchema() },
        },
      ],
    },
  };
}

interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export function generatedCrds(): readonly GeneratedFile[] {
  const header = '# Generated from src/api: change that and run `npm run generate`.\n';
  return [
    {
      path: `manifests/crds/${group}_namespacepolicies.yaml`,
      text: header + stringifyYaml(namespacePolicyCrd()),
    },
  ];
}
