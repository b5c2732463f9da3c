// Which namespaces a policy is for.
import {
  expression,
  itemName,
  labelValue,
  metadataKey,
  metadataMapOf,
  namespaceGlob,
} from '../common-fields.ts';
import { choice, list, object } from '../schema/build.ts';

const labelRequirement = object({
  description: 'One requirement on a label of the namespace.',
  fields: {
    key: metadataKey('The label key that the requirement is about.'),
    operator: choice(
      'How the label must relate to the values. In: its value is one of them. NotIn: it is none of them, or the label is absent. Exists: the label is there, whatever its value. DoesNotExist: it is not there.',
      ['In', 'NotIn', 'Exists', 'DoesNotExist'],
    ),
    values: list({
      description: 'The values for In and NotIn, at least one. Not given for Exists and DoesNotExist.',
      items: labelValue('A label value.'),
      maxItems: 100,
    }),
  },
  required: ['key', 'operator'],
  rules: [
    {
      message: 'at least one value for In and NotIn, none for Exists and DoesNotExist',
      cel: "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
      offender: ({ operator, values = [] }) =>
        ['In', 'NotIn'].includes(operator) === values.length > 0 ? undefined : ['values'],
    },
  ],
});

export const labelSelector = object({
  description:
    'Selects namespaces by their labels, as everywhere in Kubernetes. All of matchLabels and matchExpressions must hold; {} selects every namespace.',
  fields: {
    matchLabels: metadataMapOf(
      'Labels that the namespace must carry with exactly these values. Example: {tier: team}.',
      labelValue('The value that the label must have.'),
    ),
    matchExpressions: list({
      description: 'Requirements on labels, all of which must hold.',
      items: labelRequirement,
      maxItems: 32,
    }),
  },
});

export const matchCondition = object({
  description: 'A named condition on the namespace.',
  fields: {
    name: itemName('Names the condition in messages. Unique among the conditions. Example: not-archived.'),
    expression: expression(
      "CEL that must be true. It sees namespaceObject, the Namespace itself, and nothing else. Example: !('archived' in namespaceObject.metadata.labels).",
    ),
  },
  required: ['name', 'expression'],
});

export const match = object({
  description:
    'Which namespaces the policy is for. All terms that are given must hold; when none is given, the policy is for every namespace. kube-system, kube-public, kube-node-lease, the namespaces of Reeve and those that the installation excludes are never matched.',
  fields: {
    namespaceSelector: labelSelector,
    names: list({
      description:
        'Names of namespaces, or globs for whole names, in which * stands for any characters. The namespace must be named by at least one of them. Example: ["team-*"].',
      items: namespaceGlob('A name or a glob.'),
      minItems: 1,
      maxItems: 100,
    }),
    excludeNames: list({
      description:
        'Names of namespaces, or globs for whole names, that the policy is not for, whatever the other terms say. Example: ["team-legacy-*"].',
      items: namespaceGlob('A name or a glob.'),
      maxItems: 100,
    }),
    matchConditions: list({
      description:
        'Conditions in CEL for what labels and names cannot say. All must be true. One that is false is a no, even if another one fails with an error; an error that remains is neither yes nor no.',
      items: matchCondition,
      maxItems: 32,
      unique: { key: 'name' },
    }),
  },
});
