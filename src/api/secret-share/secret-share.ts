// Defines the kind SecretShare: its fields, and the types derived from them.
import { secretObjectType } from '../../base/object-type.ts';
import { labelSelector } from '../../schema/selector.ts';
import { group, lastAppliedAnnotation, managedByLabel } from '../../schema/names.ts';
import { defineKind, type ObjectOfKind } from '../kind.ts';
import { providerFields, sharedColumns, suspendedColumn, type PrintColumn } from '../provider-fields.ts';
import {
  list,
  object,
  specification,
  boolean,
  text,
  withDefault,
  type SchemaRule,
} from '../../schema/schema.ts';
import {
  annotationTemplate,
  atLeastOne,
  labelTemplate,
  metadataMapOf,
  namespaceGlob,
  namespaceName,
} from '../../schema/common-fields.ts';
import { statusFields } from '../status-fields.ts';
import { isSubdomain, subdomainPattern } from '../../base/kubernetes-names.ts';

// The keys that the API server requires in Secrets of the types that Kubernetes defines.

interface TypedKeys {
  readonly type: string;
  readonly keys: readonly string[];
  /** True if one of the keys is enough. */
  readonly isOneEnough?: boolean;
}

/** https://kubernetes.io/docs/concepts/configuration/secret/#secret-types */
const typedKeys: readonly TypedKeys[] = [
  { type: 'kubernetes.io/tls', keys: ['tls.crt', 'tls.key'] },
  { type: 'kubernetes.io/dockerconfigjson', keys: ['.dockerconfigjson'] },
  { type: 'kubernetes.io/dockercfg', keys: ['.dockercfg'] },
  { type: 'kubernetes.io/ssh-auth', keys: ['ssh-privatekey'] },
  { type: 'kubernetes.io/basic-auth', keys: ['username', 'password'], isOneEnough: true },
];

/** Returns the keys that a Secret of the type lacks: `tls.crt and tls.key`, `username or password`. */
export function missingKeys(type: string, keys: readonly string[]): string | undefined {
  const typed = typedKeys.find((each) => each.type === type);
  return typed === undefined ? undefined : missingOf(typed, keys);
}

function missingOf(
  { keys: required, isOneEnough = false }: TypedKeys,
  keys: readonly string[],
): string | undefined {
  const missing = required.filter((key) => !keys.includes(key));
  if (isOneEnough) return missing.length < required.length ? undefined : missing.join(' or ');
  return missing.length === 0 ? undefined : missing.join(' and ');
}

interface TypeAndKeys {
  readonly type?: string | undefined;
  readonly keys?: readonly { readonly to: string }[] | undefined;
}

/** One rule for each type, so that a refusal names its keys. Without `keys`, the keys of the source decide. */
const keysOfType: readonly SchemaRule<TypeAndKeys>[] = typedKeys.map((typed) => {
  const { type, keys, isOneEnough = false } = typed;
  const has = keys.map((key) => `self.keys.exists(each, each.to == '${key}')`);
  return {
    accepted: `${keys.join(isOneEnough ? ' or ' : ' and ')} among its keys if its type is ${type}`,
    must: 'have',
    cel: `!has(self.keys) || self.type != '${type}' || (${has.join(isOneEnough ? ' || ' : ' && ')})`,
    offender: (target) => {
      if (target.type !== type || target.keys === undefined) return undefined;
      return missingOf(
        typed,
        target.keys.map(({ to }) => to),
      ) === undefined
        ? undefined
        : ['keys'];
    },
  };
});

// The status of a share, and the columns that `kubectl get sshare` prints.

const shareStatus = object({
  description: 'What Reeve reports about the share; written by Reeve alone.',
  fields: statusFields({
    provider: 'share',
    where: 'target namespaces',
    conditionTypes: 'Ready, SourceAvailable, Reconciling or Stalled',
    conditionMeanings:
      'Ready: all copies exist and match. SourceAvailable: the source exists and can be copied; while it is not available, copies stay as they are. Reconciling: Reeve is working on the copies. Stalled: Reeve cannot continue until a person acts; the reason says why.',
  }),
});

const { desired, synced, conflicts, failed, skipped, ready, reason, age } = sharedColumns;

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

// The field `target`: what the copies look like, and which Secrets are never copied.

/** A copy of one of these would grant an identity, or would look like the state of a Helm release. */
export const uncopiedTypes: readonly string[] = [
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
  'helm.sh/release.v1',
];

/** https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data */
function secretName(description: string) {
  return text({
    description,
    maxLength: 253,
    pattern: `^${subdomainPattern}$`,
    accepted: 'the name of a Secret: small letters, digits, - and ., with a letter or digit at both ends',
  });
}

/** The same page: letters, digits, -, _ and .; not . alone, and not starting with .. */
function secretKey(description: string) {
  return text({
    description,
    maxLength: 253,
    pattern: '^[.]?[-_A-Za-z0-9][-._A-Za-z0-9]*$',
    accepted: 'a key of a Secret: letters, digits, -, _ and ., not starting with ..',
  });
}

const copiedType: SchemaRule<string> = {
  accepted: `a type other than ${uncopiedTypes.join(', ')}`,
  cel: `!(self in [${uncopiedTypes.map((type) => `'${type}'`).join(', ')}])`,
  offender: (type) => (uncopiedTypes.includes(type) ? [] : undefined),
};

const staticSecretName: SchemaRule<string> = {
  accepted:
    'the name of a Secret (small letters, digits, - and ., with a letter or digit at both ends) or a template with ${ }',
  cel: `self.contains('\${') || (self.size() <= 253 && self.matches(r'^${subdomainPattern}$'))`,
  offender: (name) => (name.includes('${') || isSubdomain(name) ? undefined : []),
};

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

const keyMapping = object({
  description: 'One key of the copies.',
  fields: {
    from: secretKey(
      'The key in the source. While the source lacks it, no copy is created or changed. Example: password.',
    ),
    to: secretKey('The key in the copies. Unique among the keys. Example: DB_PASSWORD.'),
  },
  required: ['from', 'to'],
});

const target = object({
  description:
    'What the copies look like. Without it they get the name, the type and all keys of the source. Labels and annotations of the source are never copied.',
  fields: {
    name: text({
      description: `The name of the copies: text or a template. Without it, the name of the source. ${templateHint} Where the installation lists the names of Secrets, each name must be on its list. Example: "registry-\${namespaceObject.metadata.labels['team']}".`,
      minLength: 1,
      maxLength: 4096,
      braces: 'template',
      rules: [staticSecretName],
    }),
    type: withDefault(
      text({
        description:
          'The type of the copies; "" means the type of the source. Not allowed: kubernetes.io/service-account-token, bootstrap.kubernetes.io/token and helm.sh/release.v1. A change deletes the copies and creates them again. Example: kubernetes.io/dockerconfigjson. Default: "".',
        maxLength: 253,
        pattern: '^[!-~]*$',
        accepted: 'the type of a Secret such as kubernetes.io/tls, or "" for the type of the source',
        rules: [copiedType],
      }),
      '',
    ),
    keys: list({
      description:
        'The keys to copy, and their names in the copies. Without it, all keys keep their names. Example: [{from: user, to: DB_USER}, {from: password, to: DB_PASSWORD}].',
      items: keyMapping,
      minItems: 1,
      maxItems: 100,
      unique: { key: 'to' },
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
  },
  rules: keysOfType,
});

const source = object({
  description:
    'The Secret that is shared. While it is missing, its copies stay as they are. A copy that Reeve manages is never a source, and neither are Secrets of type kubernetes.io/service-account-token, bootstrap.kubernetes.io/token or helm.sh/release.v1.',
  fields: {
    namespace: namespaceName(
      'The namespace of the Secret: one of the source namespaces of the installation. No share copies into these namespaces, so a source is never its own target. Example: reeve-shared.',
    ),
    name: secretName('The name of the Secret. Example: regcred.'),
  },
  required: ['namespace', 'name'],
});

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

const targets = object({
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

const spec = specification({
  description: 'Which Secret is shared, which namespaces get a copy of it, and what the copies look like.',
  fields: {
    source,
    targets,
    target,
    ...providerFields({ provider: 'share', provided: 'copies', whileSuspended: '.' }),
  },
  required: ['source', 'targets'],
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
