// Defines the fields that the kinds of shares have in common: targets, the metadata of the copies, and the status.
import { isSubdomain, subdomainPattern } from '../base/kubernetes-names.ts';
import {
  annotationTemplate,
  atLeastOne,
  labelTemplate,
  metadataMapOf,
  namespaceGlob,
} from '../schema/common-fields.ts';
import { group, lastAppliedAnnotation, managedByLabel } from '../schema/names.ts';
import { boolean, list, object, text, withDefault, type SchemaRule } from '../schema/schema.ts';
import { labelSelector } from '../schema/selector.ts';
import { sharedColumns, suspendedColumn, type PrintColumn } from './provider-fields.ts';
import { statusFields } from './status-fields.ts';

type Copied = 'Secret' | 'ConfigMap';

/** https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data. ConfigMaps have the same rules. */
export function sourceName(kind: Copied, description: string) {
  return text({
    description,
    maxLength: 253,
    pattern: `^${subdomainPattern}$`,
    accepted: `the name of a ${kind}: small letters, digits, - and ., with a letter or digit at both ends`,
  });
}

/** The same page: letters, digits, -, _ and .; not . alone, and not starting with .. */
export function dataKey(kind: Copied, description: string) {
  return text({
    description,
    maxLength: 253,
    pattern: '^[.]?[-_A-Za-z0-9][-._A-Za-z0-9]*$',
    accepted: `a key of a ${kind}: letters, digits, -, _ and ., not starting with ..`,
  });
}

function nameOrTemplate(kind: Copied): SchemaRule<string> {
  return {
    accepted: `the name of a ${kind} (small letters, digits, - and ., with a letter or digit at both ends) or a template with \${ }`,
    cel: `self.contains('\${') || (self.size() <= 253 && self.matches(r'^${subdomainPattern}$'))`,
    offender: (name) => (name.includes('${') || isSubdomain(name) ? undefined : []),
  };
}

/** Keys of Reeve say which provider owns a copy, and how Reeve treats it. `others` are keys that a copy cannot keep. */
function notOurs(...others: readonly string[]): SchemaRule<Readonly<Record<string, string>>> {
  const isOurs = (key: string): boolean => key.startsWith(`${group}/`) || others.includes(key);
  return {
    accepted: 'another key',
    mustNot: `set ${others.join(', ')} or keys of ${group}/`,
    cel: `self.all(key, !key.startsWith('${group}/') && !(key in [${others.map((key) => `'${key}'`).join(', ')}]))`,
    offender: (written) => {
      const key = Object.keys(written).find(isOurs);
      return key === undefined ? undefined : [key];
    },
  };
}

const templateHint =
  'A value may be a template: CEL in ${ } sees namespaceObject, the Namespace. A namespace that lacks a label or annotation that the template reads gets no copy.';

/** `example` is the name of a copy. */
const nameWords = {
  Secret: {
    limit: ' Where the installation lists the names of Secrets, each name must be on its list.',
    example: "registry-${namespaceObject.metadata.labels['team']}",
  },
  ConfigMap: { limit: '', example: 'corp-ca' },
} as const;

export function copyFields(kind: Copied) {
  const { limit, example } = nameWords[kind];
  return {
    name: text({
      description: `The name of the copies: text or a template. Without it, the name of the source. ${templateHint}${limit} Example: "${example}".`,
      minLength: 1,
      maxLength: 4096,
      braces: 'template',
      rules: [nameOrTemplate(kind)],
    }),
    labels: metadataMapOf(
      `Labels of the copies. ${templateHint} Example: {team: platform}.`,
      labelTemplate('The value of the label, or a template.'),
      [notOurs(managedByLabel)],
    ),
    annotations: metadataMapOf(
      `Annotations of the copies. ${templateHint} Example: {reloader.stakater.com/match: "true"}.`,
      annotationTemplate('The value of the annotation, or a template.'),
      [notOurs(managedByLabel, lastAppliedAnnotation)],
    ),
    immutable: withDefault(
      boolean(
        'Whether the copies are immutable, so that kubelets do not watch them. When the source changes, such copies are deleted and created again. Default: false.',
      ),
      false,
    ),
  };
}

const terms = {
  namespaceSelector: labelSelector,
  names: list({
    description:
      'Names of namespaces, or globs for whole names, where * stands for any characters. At least one must match. Example: ["ci-*"].',
    items: namespaceGlob('A name or a glob.'),
    minItems: 1,
    maxItems: 100,
  }),
  excludeNames: list({
    description:
      'Names of namespaces, or globs for whole names, that get no copy, whatever the other terms say. Example: [ci-legacy].',
    items: namespaceGlob('A name or a glob.'),
    maxItems: 100,
  }),
};

export const targets = object({
  description:
    'Which namespaces get a copy. At least one of namespaceSelector, names and anyOf is required, and all given terms must hold. For every namespace, use {namespaceSelector: {}} or {names: ["*"]}. Never matched: kube-system, kube-public, kube-node-lease, the namespaces of Reeve, source namespaces, and namespaces that the installation excludes.',
  fields: {
    ...terms,
    anyOf: list({
      description:
        'Alternatives: at least one entry must match. Example: [{names: ["ci-*"]}, {namespaceSelector: {matchLabels: {pull: "true"}}}].',
      items: object({
        description: 'All given terms must hold.',
        fields: terms,
        rules: [atLeastOne('namespaceSelector', 'names')],
      }),
      minItems: 1,
      maxItems: 20,
    }),
  },
  rules: [
    {
      accepted: 'namespaceSelector, names or anyOf; for every namespace, use namespaceSelector: {}',
      must: 'have',
      cel: 'has(self.namespaceSelector) || has(self.names) || has(self.anyOf)',
      offender: ({ namespaceSelector, names, anyOf }) =>
        (namespaceSelector ?? names ?? anyOf) === undefined ? [] : undefined,
    },
  ],
});

/** The fields of the status that each kind of share has. */
export const shareStatusFields = statusFields({
  provider: 'share',
  where: 'target namespaces',
  conditionTypes: 'Ready, SourceAvailable, Reconciling or Stalled',
  conditionMeanings:
    'Ready: all copies exist and match. SourceAvailable: the source exists and can be copied; while it is not available, copies stay as they are. Reconciling: Reeve is working on the copies. Stalled: Reeve cannot continue until a person acts; the reason says why.',
});

const { desired, synced, conflicts, failed, skipped, ready, reason, age } = sharedColumns;

/** The last columns that kubectl prints for each kind of share. */
export const copyColumns: readonly PrintColumn[] = [
  { ...desired, description: 'How many copies the share wants.' },
  synced,
  conflicts,
  failed,
  skipped,
  suspendedColumn('copies'),
  ready,
  reason,
  age,
];
