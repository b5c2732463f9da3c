// The field `namespaces`: rules on the Namespace itself, checked before it is stored.
import { labelValue, metadataKey, metadataMapOf, pattern } from '../../schema/common-fields.ts';
import { boolean, integer, list, object, text, withDefault } from '../../schema/build.ts';
import type { Schema, TextSchema } from '../../schema/schema.ts';
import { defaults } from './defaults.ts';

export const nameRule = object({
  description: 'What the name of a namespace must look like.',
  fields: {
    pattern: pattern(
      'A regular expression (RE2) that must match a part of the name; write ^ and $ to match the whole name. Example: "^team-[a-z0-9-]+$".',
    ),
  },
  required: ['pattern'],
});

/** Defines what one key requires. The values of labels have a syntax of their own; those of annotations do not. */
function requiredKeyOf(value: TextSchema) {
  return object({
    description:
      'What the value must be. {} only requires that the key is present and its value is not empty. If both pattern and values are given, both must hold.',
    fields: {
      pattern: pattern(
        'A regular expression (RE2) that must match a part of the value; write ^ and $ to match the whole value. Example: "^[a-z]+$".',
      ),
      values: list({
        description: 'The values that are accepted. Example: [dev, prod].',
        items: value,
        minItems: 1,
        maxItems: 100,
        unique: 'set',
      }),
    },
  });
}

const requiredLabel = requiredKeyOf(labelValue('An accepted value.'));
export const requiredKey = requiredKeyOf(text({ description: 'An accepted value.', maxLength: 1024 }));

export const required = object({
  description: 'Labels and annotations that a namespace must have.',
  fields: {
    labels: metadataMapOf(
      'The labels that must be present, and what their values must be. Example: {team: {pattern: "^[a-z]+$"}, env: {values: [dev, prod]}, cost-center: {}}.',
      requiredLabel,
    ),
    annotations: metadataMapOf(
      'The annotations that must be present, and what their values must be. Example: {contact: {}}.',
      requiredKey,
    ),
  },
});

export const immutable = object({
  description:
    'Labels and annotations that cannot be changed or removed once they are set. Setting one for the first time is always allowed.',
  fields: {
    labels: keys('The keys of the labels. Example: [team].'),
    annotations: keys('The keys of the annotations. Example: [created-by].'),
  },
});

function keys(description: string) {
  return list({ description, items: metadataKey('A key.'), maxItems: 64, unique: 'set' });
}

export const requesters = object({
  description:
    'The only users who may create matched namespaces. They may also use this policy without an RBAC rule, which means: change a namespace so that the policy starts or stops matching it. Cluster administrators may use the policy too, but may create matched namespaces only if they are listed here.',
  fields: {
    groups: names('Groups, by their exact names. Example: [platform].', 'A group.'),
    users: names('Users, by their exact names. Example: [alice@example.com].', 'A user.'),
    serviceAccounts: list({
      description: 'Service accounts as namespace/name. Example: [argocd/argocd-application-controller].',
      items: serviceAccount(),
      maxItems: 100,
      unique: 'set',
    }),
  },
  rules: [
    {
      accepted: 'at least one group, user or service account',
      must: 'have',
      cel: '(has(self.groups) && self.groups.size() > 0) || (has(self.users) && self.users.size() > 0) || (has(self.serviceAccounts) && self.serviceAccounts.size() > 0)',
      offender: ({ groups = [], users = [], serviceAccounts = [] }) =>
        groups.length + users.length + serviceAccounts.length > 0 ? undefined : [],
    },
  ],
});

function names(description: string, item: string) {
  return list({
    description,
    items: text({ description: item, minLength: 1, maxLength: 512 }),
    maxItems: 100,
    unique: 'set',
  });
}

function serviceAccount(): TextSchema {
  return text({
    description: 'A service account.',
    maxLength: 317,
    pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
    accepted: 'namespace/name of a service account',
  });
}

export const quota = object({
  description:
    'How many matched namespaces there may be for each value of a label. Best effort: simultaneous requests can exceed the quota; the status then reports it. Namespaces that are being deleted do not count.',
  fields: {
    label: metadataKey('The key of the label whose values are counted. Example: team.'),
    max: integer({
      description: 'How many namespaces may have the same value of the label. Example: 10.',
      minimum: 0,
      maximum: 100_000,
    }),
  },
  required: ['label', 'max'],
});

const deletion = object({
  description: 'Protects matched namespaces from deletion by mistake.',
  fields: {
    protect: withDefault(
      boolean(
        'Whether to refuse to delete a matched namespace until it has the annotation reeve.dev/allow-deletion with its own name as the value. Until then an ownerReference is refused too, because the garbage collector could delete the namespace through it. Default: false.',
      ),
      false,
    ),
  },
});

export const namespaceRules = object({
  description: 'Rules on the Namespaces themselves, checked before they are stored.',
  fields: {
    name: nameRule,
    required,
    defaults: defaults(
      'Labels and annotations to set where they are missing. On creation, and when an update removes one, the key must be present afterwards. Its value is free unless a rule says otherwise.',
      'CEL in ${ } sees namespaceObject, the Namespace itself, and on creation the userInfo, name, operation and dryRun of request. Example: "${request.userInfo.username}".',
    ),
    immutable,
    requesters,
    quota,
    deletion,
  } satisfies Record<string, Schema>,
});
