// The field `match`: which namespaces a policy applies to.
import {
  expression,
  itemName,
  labelValue,
  metadataKey,
  metadataMapOf,
  namespaceGlob,
} from '../../schema/common-fields.ts';
import { choice, list, object } from '../../schema/build.ts';

/** What a selector selects. */
type Selected = 'namespace' | 'Pod';

function labelRequirement(selected: Selected) {
  return object({
    description: `One requirement on a label of the ${selected}.`,
    fields: {
      key: metadataKey('The label key that the requirement looks at.'),
      operator: choice(
        'How the label must relate to the values. In: its value is one of them. NotIn: its value is none of them, or the label is missing. Exists: the label is present, with any value. DoesNotExist: the label is missing.',
        ['In', 'NotIn', 'Exists', 'DoesNotExist'],
      ),
      values: list({
        description: 'The values for In and NotIn: at least one. Not allowed for Exists and DoesNotExist.',
        items: labelValue('A label value.'),
        maxItems: 100,
      }),
    },
    required: ['key', 'operator'],
    rules: [
      {
        accepted: 'at least one value for In and NotIn, and none for Exists and DoesNotExist',
        must: 'have',
        cel: "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
        offender: ({ operator, values = [] }) =>
          ['In', 'NotIn'].includes(operator) === values.length > 0 ? undefined : ['values'],
      },
    ],
  });
}

export function labelSelectorFields(selected: Selected, example: string) {
  return {
    matchLabels: metadataMapOf(
      `Labels that the ${selected} must carry with exactly these values. Example: ${example}.`,
      labelValue('The value that the label must have.'),
    ),
    matchExpressions: list({
      description: 'Requirements on labels. All must hold.',
      items: labelRequirement(selected),
      maxItems: 32,
    }),
  };
}

export const labelSelector = object({
  description:
    'Selects namespaces by their labels, as everywhere in Kubernetes. All of matchLabels and matchExpressions must hold; {} selects every namespace.',
  fields: labelSelectorFields('namespace', '{tier: team}'),
});

export const matchCondition = object({
  description: 'A named condition on the namespace.',
  fields: {
    name: itemName(
      'The name of the condition, for messages. Unique among the conditions. Example: not-archived.',
    ),
    expression: expression(
      "CEL that must be true. It sees namespaceObject, the Namespace itself, and nothing else. Example: !('archived' in namespaceObject.metadata.labels).",
    ),
  },
  required: ['name', 'expression'],
});

export function matchOf(provider: 'policy' | 'binding') {
  return object({
    description: `Which namespaces the ${provider} applies to. All given terms must hold; without any term, the ${provider} applies to every namespace. Never matched: kube-system, kube-public, kube-node-lease, the namespaces of Reeve, and namespaces that the installation excludes.`,
    fields: {
      namespaceSelector: labelSelector,
      names: list({
        description:
          'Names of namespaces, or globs for whole names, where * stands for any characters. At least one must match. Example: ["team-*"].',
        items: namespaceGlob('A name or a glob.'),
        minItems: 1,
        maxItems: 100,
      }),
      excludeNames: list({
        description: `Names of namespaces, or globs for whole names, that the ${provider} does not apply to, whatever the other terms say. Example: ["team-legacy-*"].`,
        items: namespaceGlob('A name or a glob.'),
        maxItems: 100,
      }),
      matchConditions: list({
        description: `Conditions in CEL for what labels and names cannot express. All must be true. If one is false, the ${provider} does not match, even if another one returns an error. An error that remains counts neither as a match nor as no match.`,
        items: matchCondition,
        maxItems: 32,
        unique: { key: 'name' },
      }),
    },
  });
}
