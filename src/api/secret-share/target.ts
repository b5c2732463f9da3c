// Defines the field `target` of a SecretShare: what the copies look like, and which Secrets are never copied.
import { annotationTemplate, labelTemplate, metadataMapOf } from '../../schema/common-fields.ts';
import { isSubdomain, subdomainPattern } from '../../base/kubernetes-names.ts';
import { group, lastAppliedAnnotation, managedByLabel } from '../../schema/names.ts';
import { boolean, list, map, object, text, withDefault, type SchemaRule } from '../../schema/schema.ts';

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

/** The key of a Secret of the type `kubernetes.io/dockerconfigjson`. */
export const dockerConfigKey = '.dockerconfigjson';

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
  /** The keys of what is built are known with those of the sources. */
  readonly template?: unknown;
  readonly dockerConfig?: unknown;
}

/** One rule for each type, so that a refusal names its keys. Without `keys`, the keys of the source decide. */
const keysOfType: readonly SchemaRule<TypeAndKeys>[] = typedKeys.map((typed) => {
  const { type, keys, isOneEnough = false } = typed;
  const has = keys.map((key) => `self.keys.exists(each, each.to == '${key}')`);
  return {
    accepted: `${keys.join(isOneEnough ? ' or ' : ' and ')} among its keys if its type is ${type}`,
    must: 'have',
    cel: `!has(self.keys) || has(self.template) || has(self.dockerConfig) || self.type != '${type}' || (${has.join(isOneEnough ? ' || ' : ' && ')})`,
    offender: (target) => {
      const isBuilt = (target.template ?? target.dockerConfig) !== undefined;
      if (target.type !== type || target.keys === undefined || isBuilt) return undefined;
      return missingOf(
        typed,
        target.keys.map(({ to }) => to),
      ) === undefined
        ? undefined
        : ['keys'];
    },
  };
});

/** A copy of one of these would grant an identity, or would look like the state of a Helm release. */
export const uncopiedTypes: readonly string[] = [
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
  'helm.sh/release.v1',
];

/** https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data */
export function secretName(description: string) {
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

const dockerConfigType = 'kubernetes.io/dockerconfigjson';

const dockerType: SchemaRule<{ readonly type: string; readonly dockerConfig?: unknown }> = {
  accepted: `the type ${dockerConfigType}, or none, beside dockerConfig`,
  must: 'have',
  cel: `!has(self.dockerConfig) || self.type in ['', '${dockerConfigType}']`,
  offender: ({ type, dockerConfig }) =>
    dockerConfig === undefined || ['', dockerConfigType].includes(type) ? undefined : ['type'],
};

interface BuiltKeys {
  readonly keys?: readonly { readonly to: string }[] | undefined;
  readonly template?: Readonly<Record<string, string>> | undefined;
  readonly dockerConfig?: unknown;
}

const keysOnce: SchemaRule<BuiltKeys> = {
  accepted: 'each key of the copies in one of keys, template and dockerConfig',
  must: 'have',
  cel:
    '(!has(self.keys) || !self.keys.exists(each, (has(self.template) && each.to in self.template) || ' +
    "(has(self.dockerConfig) && each.to == '.dockerconfigjson'))) && " +
    "!(has(self.dockerConfig) && has(self.template) && '.dockerconfigjson' in self.template)",
  offender: ({ keys = [], template = {}, dockerConfig }) => {
    const isBuilt = (key: string): boolean =>
      Object.hasOwn(template, key) || (dockerConfig !== undefined && key === dockerConfigKey);
    if (dockerConfig !== undefined && Object.hasOwn(template, dockerConfigKey))
      return ['template', dockerConfigKey];
    const index = keys.findIndex(({ to }) => isBuilt(to));
    return index === -1 ? undefined : ['keys', index, 'to'];
  },
};

export const target = object({
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
    template: map({
      description:
        'Keys of the copies with values built from text: CEL in ${ } sees data, the values of all keys of the sources. With it, other keys are copied only if keys lists them. No message shows a value. Example: {url: "postgres://${data.username}:${data.password}@${data.host}/app"}.',
      keys: secretKey('The key in the copies.'),
      values: text({ description: 'The value, or a template.', maxLength: 8192, braces: 'template' }),
      maxProperties: 100,
    }),
    dockerConfig: object({
      description:
        'Builds the key .dockerconfigjson of the copies, whose type is kubernetes.io/dockerconfigjson. With it, other keys are copied only if keys lists them.',
      fields: {
        registry: text({
          description: 'The registry. Example: registry.example.com.',
          minLength: 1,
          maxLength: 253,
          pattern: '^[-A-Za-z0-9.:/_]+$',
          accepted: 'a registry such as registry.example.com or registry.example.com:5000/team',
        }),
        usernameKey: secretKey('The key in the sources with the user name. Example: username.'),
        passwordKey: secretKey('The key in the sources with the password. Example: password.'),
      },
      required: ['registry', 'usernameKey', 'passwordKey'],
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
  rules: [...keysOfType, dockerType, keysOnce],
});
