// What the copies look like.
import { labelValue, metadataMap } from '../common-fields.ts';
import { group, managedByLabel } from '../names.ts';
import { boolean, list, object, text, withDefault } from '../schema/build.ts';
import type { Rule } from '../schema/schema.ts';
import { secretKey, secretName, uncopiedTypes } from './secret-names.ts';

const copiedType: Rule<string> = {
  message: `a type other than ${uncopiedTypes.join(', ')}`,
  cel: `!(self in [${uncopiedTypes.map((type) => `'${type}'`).join(', ')}])`,
  offender: (type) => (uncopiedTypes.includes(type) ? [] : undefined),
};

/** They say whose a copy is, and how Reeve is to treat it. */
const notOurs: Rule<Readonly<Record<string, string>>> = {
  message: `keys other than ${managedByLabel} and those of ${group}/`,
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
      'The key in the source; without it there, no copy is made or changed. Example: password.',
    ),
    to: secretKey('The key in the copies. Unique among the keys. Example: DB_PASSWORD.'),
  },
  required: ['from', 'to'],
});

export const target = object({
  description:
    'What the copies look like. Without it they have the name, the type and all keys of the source. Labels and annotations of the source are never copied.',
  fields: {
    name: secretName('The name of the copies. Without it, that of the source. Example: regcred.'),
    type: withDefault(
      text({
        description:
          'The type of the copies. With "" it is that of the source. Not kubernetes.io/service-account-token, bootstrap.kubernetes.io/token or helm.sh/release.v1, which are never copied. A change deletes the copies and makes them again. Example: kubernetes.io/dockerconfigjson. Default: "".',
        maxLength: 253,
        pattern: '^[!-~]*$',
        accepted: 'the type of a Secret such as kubernetes.io/tls, or "" for that of the source',
        rules: [copiedType],
      }),
      '',
    ),
    keys: list({
      description:
        'The keys to copy, and what they are called in the copies. Without it, all keys by their own names. Example: [{from: user, to: DB_USER}, {from: password, to: DB_PASSWORD}].',
      items: keyMapping,
      minItems: 1,
      maxItems: 100,
      unique: { key: 'to' },
    }),
    labels: metadataMap(
      'Labels of the copies. Example: {team: platform}.',
      labelValue('The value of the label.'),
      [notOurs],
    ),
    immutable: withDefault(
      boolean(
        'Whether the copies are immutable, which spares kubelets from watching them. When the source changes, such copies are deleted and made again. Default: false.',
      ),
      false,
    ),
  },
});
