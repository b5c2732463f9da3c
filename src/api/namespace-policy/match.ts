// The field `match`: which namespaces a policy applies to.
import { matchCondition, namespaceGlob } from '../../schema/common-fields.ts';
import { list, object } from '../../schema/schema.ts';
import { labelSelector } from '../../schema/selector.ts';

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
