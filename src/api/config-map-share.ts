// Defines the kind ConfigMapShare: its fields, and the types derived from them.
import { configMapType } from '../base/object-type.ts';
import type { Problem } from '../base/problem.ts';
import { quoted } from '../base/text.ts';
import { modeField } from '../contents/create-once.ts';
import { namespaceName } from '../schema/common-fields.ts';
import { choice, list, object, specification, withDefault, type SchemaRule } from '../schema/schema.ts';
import { defineKind, type ObjectOfKind } from './kind.ts';
import { providerFields, type PrintColumn } from './provider-fields.ts';
import { copyColumns, copyFields, dataKey, shareStatusFields, sourceName, targets } from './share-fields.ts';
import { count } from './status-fields.ts';

// The status of the share, and the columns that `kubectl get cmshare` prints.

const bundle = object({
  description: 'What the bundle holds, if the format is PEMBundle and all sources can be read.',
  fields: {
    certificates: count('How many certificates it holds.'),
    duplicates: count('How many certificates of the sources are left out, because another one is the same.'),
    expired: count('How many certificates of the sources are left out, because they have expired.'),
  },
  required: ['certificates', 'duplicates', 'expired'],
});

const columns: readonly PrintColumn[] = [
  {
    name: 'Certificates',
    type: 'integer',
    jsonPath: '.status.bundle.certificates',
    description: 'How many certificates the bundle holds.',
    priority: 1,
  },
  ...copyColumns,
];

const sourceKey = object({
  description: 'One key of the source.',
  fields: {
    from: dataKey(
      'ConfigMap',
      'The key in the source. While the source lacks it, no copy is created or changed. Example: ca.crt.',
    ),
    to: dataKey('ConfigMap', 'The key in the copies. Without it, the key of the source.'),
  },
  required: ['from'],
});

/** A key that no author has named may hold a private key tomorrow. */
const keysOfSecret: SchemaRule<{ readonly kind: string; readonly keys?: unknown }> = {
  accepted: 'the keys to copy, if the source is a Secret',
  must: 'have',
  cel: "self.kind != 'Secret' || has(self.keys)",
  offender: ({ kind, keys }) => (kind === 'Secret' && keys === undefined ? ['keys'] : undefined),
};

const sources = list({
  description:
    'The ConfigMaps and Secrets whose keys the copies join, in this order. A key that two of them have is a problem: no copy is created or changed. While one of them is missing, the copies stay as they are. A value with a private key is never written to a ConfigMap, whatever its key is. Example: [{namespace: reeve-shared, name: public-ca}, {kind: Secret, namespace: reeve-shared, name: corp-ca, keys: [{from: ca.crt}]}].',
  items: object({
    description: 'One source. A copy that Reeve manages is never a source.',
    fields: {
      kind: withDefault(
        choice('The kind of the source. Default: ConfigMap.', ['ConfigMap', 'Secret']),
        'ConfigMap',
      ),
      namespace: namespaceName(
        'The namespace of the source: one of the source namespaces of the installation. No share copies into these namespaces. Example: reeve-shared.',
      ),
      name: sourceName('ConfigMap', 'The name of the source. Example: corp-ca.'),
      keys: list({
        description:
          'The keys to copy, and their names in the copies. Required for a Secret. Without it, all keys keep their names. Example: [{from: ca.crt, to: corp.crt}].',
        items: sourceKey,
        minItems: 1,
        maxItems: 100,
      }),
    },
    required: ['namespace', 'name'],
    rules: [keysOfSecret],
  }),
  minItems: 1,
  maxItems: 10,
});

const formatAndKey: SchemaRule<{ readonly format?: unknown; readonly key?: unknown }> = {
  accepted: 'both format and key, or neither',
  must: 'have',
  cel: 'has(self.format) == has(self.key)',
  offender: ({ format, key }) => {
    if ((format === undefined) === (key === undefined)) return undefined;
    return format === undefined ? ['format'] : ['key'];
  },
};

const { name, labels, annotations, immutable } = copyFields('ConfigMap');

const target = object({
  description:
    'What the copies look like. Without it they get the name of the first source and the keys of all sources. Labels and annotations of the sources are never copied.',
  fields: {
    name,
    format: choice(
      'PEMBundle joins the certificates of all values into one key: each certificate once, without expired ones, in an order that does not depend on the order of the sources. A value that holds anything but certificates is a problem: the copies keep their last bundle. Requires key.',
      ['PEMBundle'],
    ),
    key: dataKey('ConfigMap', 'The key of the bundle. Required with format. Example: ca-bundle.crt.'),
    labels,
    annotations,
    immutable,
  },
  rules: [formatAndKey],
});

const spec = specification({
  description:
    'Which ConfigMaps and Secrets are shared, which namespaces get a copy, and what the copies look like.',
  fields: {
    sources,
    targets,
    target,
    mode: modeField('copy'),
    ...providerFields({ provider: 'share', provided: 'copies', whileSuspended: '.' }),
  },
  required: ['sources', 'targets'],
});

interface WrittenKeys {
  readonly sources: readonly {
    readonly keys?: readonly { readonly from: string; readonly to?: string | undefined }[] | undefined;
  }[];
  readonly target?: { readonly format?: unknown } | undefined;
}

/** Finds keys that the copies would have twice, and new names that a bundle does not use. */
function keyProblems({ sources: written, target: form }: WrittenKeys): readonly Problem[] {
  const isBundle = form?.format !== undefined;
  const seen = new Set<string>();
  return written.flatMap(({ keys = [] }, index) =>
    keys.flatMap(({ from, to }, place): readonly Problem[] => {
      const path = ['spec', 'sources', index, 'keys', place];
      if (isBundle) {
        const accepted = 'no new name, because the bundle has one key';
        return to === undefined ? [] : [{ path: [...path, 'to'], found: quoted(to), accepted }];
      }
      const key = to ?? from;
      const isTwice = seen.has(key);
      seen.add(key);
      const accepted = 'each key of the copies once, over all sources';
      return isTwice
        ? [{ path: [...path, to === undefined ? 'from' : 'to'], found: quoted(key), accepted }]
        : [];
    }),
  );
}

export const configMapShare = defineKind({
  kind: 'ConfigMapShare',
  plural: 'configmapshares',
  shortName: 'cmshare',
  word: 'share',
  scope: 'Cluster',
  copies: configMapType,
  mayBeMissing: true,
  description:
    'ConfigMapShare keeps one ConfigMap, joined from several ConfigMaps and Secrets, in many namespaces, new ones included. Reeve creates the copies, updates them when a source changes, restores them when they are changed, and deletes them when the share no longer wants them.',
  spec,
  status: object({
    description: 'What Reeve reports about the share; written by Reeve alone.',
    fields: { ...shareStatusFields, bundle },
  }),
  columns,
  problemsOf: keyProblems,
});

export type ConfigMapShare = ObjectOfKind<typeof configMapShare>;
