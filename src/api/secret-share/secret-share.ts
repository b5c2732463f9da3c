// Defines the kind SecretShare: its fields, and the types derived from them.
import { secretObjectType } from '../../base/object-type.ts';
import { modeField } from '../../contents/create-once.ts';
import { namespaceName } from '../../schema/common-fields.ts';
import { list, object, specification, type SchemaRule } from '../../schema/schema.ts';
import { defineKind, type ObjectOfKind } from '../kind.ts';
import { providerFields, type PrintColumn } from '../provider-fields.ts';
import { copyColumns, shareStatusFields, sourceName, targets } from '../share-fields.ts';
import { target } from './target.ts';

// The status of a share, and the columns that `kubectl get sshare` prints.

const shareStatus = object({
  description: 'What Reeve reports about the share; written by Reeve alone.',
  fields: shareStatusFields,
});

const shareColumns: readonly PrintColumn[] = [
  {
    // A column shows one value. The namespace is nearly always the same one, so its column is wide only.
    name: 'Source',
    type: 'string',
    jsonPath: '.spec.source.name',
    description: 'The name of the Secret that is shared.',
  },
  {
    name: 'Source-Namespace',
    type: 'string',
    jsonPath: '.spec.source.namespace',
    description: 'The namespace of that Secret.',
    priority: 1,
  },
  ...copyColumns,
];

const sourceFields = {
  namespace: namespaceName(
    'The namespace of the Secret: one of the source namespaces of the installation. No share copies into these namespaces, so a source is never its own target. Example: reeve-shared.',
  ),
  name: sourceName('Secret', 'The name of the Secret. Example: regcred.'),
};

const source = object({
  description:
    'The Secret that is shared. While it is missing, its copies stay as they are. A copy that Reeve manages is never a source, and neither are Secrets of type kubernetes.io/service-account-token, bootstrap.kubernetes.io/token or helm.sh/release.v1.',
  fields: sourceFields,
  required: ['namespace', 'name'],
});

const sources = list({
  description:
    'Several Secrets in place of source, whose keys the copies join. A key that two of them have is a problem: no copy is created or changed. While one of them is missing, the copies stay as they are. Example: [{namespace: reeve-shared, name: db-user}, {namespace: reeve-shared, name: db-host}].',
  items: object({
    description: 'A Secret that is shared, as in source.',
    fields: sourceFields,
    required: ['namespace', 'name'],
  }),
  minItems: 1,
  maxItems: 10,
});

const oneSource: SchemaRule<{ readonly source?: unknown; readonly sources?: unknown }> = {
  accepted: 'either source or sources',
  must: 'have',
  cel: 'has(self.source) != has(self.sources)',
  offender: ({ source: one, sources: several }) => {
    if (one === undefined && several === undefined) return ['source'];
    return one === undefined || several === undefined ? undefined : ['sources'];
  },
};

const spec = specification({
  description: 'Which Secret is shared, which namespaces get a copy of it, and what the copies look like.',
  fields: {
    source,
    sources,
    targets,
    target,
    mode: modeField('copy'),
    ...providerFields({ provider: 'share', provided: 'copies', whileSuspended: '.' }),
  },
  required: ['targets'],
  rules: [oneSource],
});

export const secretShare = defineKind({
  kind: 'SecretShare',
  plural: 'secretshares',
  shortName: 'sshare',
  word: 'share',
  scope: 'Cluster',
  copies: secretObjectType,
  description:
    'SecretShare keeps copies of one Secret in many namespaces, new ones included. Reeve creates the copies, updates them when the source changes, restores them when they are changed, and deletes them when the share no longer wants them.',
  spec,
  status: shareStatus,
  columns: shareColumns,
});

export type SecretShare = ObjectOfKind<typeof secretShare>;
