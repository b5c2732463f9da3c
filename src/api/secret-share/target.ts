// The field `target`: what the copies look like, and which Secrets are never copied.
import { labelValue, metadataMapOf } from '../../schema/common-fields.ts';
import { group, managedByLabel } from '../../schema/names.ts';
import { boolean, list, object, text, withDefault } from '../../schema/build.ts';
import type { SchemaRule } from '../../schema/schema.ts';
import { subdomainPattern } from '../../schema/kubernetes-names.ts';
import { keysOfType } from './typed-keys.ts';

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

/** These labels say which provider owns a copy, and how Reeve treats it. */
const notOurs: SchemaRule<Readonly<Record<string, string>>> = {
  accepted: 'another key',
  mustNot: `set ${managedByLabel} or keys of ${group}/`,
  cel: `self.all(key, !key.startsWith('${group}/') && key != '${managedByLabel}')`,
  offender: (labels) => {
    const key = Object.keys(labels).find((name) => name.startsWith(`${group}/`) || name === managedByLabel);
    return key === undefined ? undefined : [key];
  },
};

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

export const target = object({
  description:
    'What the copies look like. Without it they get the name, the type and all keys of the source. Labels and annotations of the source are never copied.',
  fields: {
    name: secretName('The name of the copies. Without it, the name of the source. Example: regcred.'),
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
      'Labels of the copies. Example: {team: platform}.',
      labelValue('The value of the label.'),
      [notOurs],
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
