// Defines the field `target` of a SecretShare: what the copies look like, and which Secrets are never copied.
import { copyFields, dataKey } from '../share-fields.ts';
import { list, map, object, text, withDefault, type SchemaRule } from '../../schema/schema.ts';

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

const copiedType: SchemaRule<string> = {
  accepted: `a type other than ${uncopiedTypes.join(', ')}`,
  cel: `!(self in [${uncopiedTypes.map((type) => `'${type}'`).join(', ')}])`,
  offender: (type) => (uncopiedTypes.includes(type) ? [] : undefined),
};

const keyMapping = object({
  description: 'One key of the copies.',
  fields: {
    from: dataKey(
      'Secret',
      'The key in the source. While the source lacks it, no copy is created or changed. Example: password.',
    ),
    to: dataKey('Secret', 'The key in the copies. Unique among the keys. Example: DB_PASSWORD.'),
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

const { name, labels, annotations, immutable } = copyFields('Secret');

export const target = object({
  description:
    'What the copies look like. Without it they get the name, the type and all keys of the source. Labels and annotations of the source are never copied.',
  fields: {
    name,
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
      keys: dataKey('Secret', 'The key in the copies.'),
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
        usernameKey: dataKey('Secret', 'The key in the sources with the user name. Example: username.'),
        passwordKey: dataKey('Secret', 'The key in the sources with the password. Example: password.'),
      },
      required: ['registry', 'usernameKey', 'passwordKey'],
    }),
    labels,
    annotations,
    immutable,
  },
  rules: [...keysOfType, dockerType, keysOnce],
});
