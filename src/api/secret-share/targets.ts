// Which namespaces get a copy.
import { namespaceGlob } from '../common-fields.ts';
import { labelSelector } from '../namespace-policy/match.ts';
import { list, object } from '../schema/build.ts';

export const targets = object({
  description:
    'Which namespaces get a copy. At least one of namespaceSelector and names is given, and all terms that are given must hold. Every namespace is {namespaceSelector: {}} or {names: ["*"]}. kube-system, kube-public, kube-node-lease, the namespaces of Reeve and of the sources and those that the installation excludes never get one.',
  fields: {
    namespaceSelector: labelSelector,
    names: list({
      description:
        'Names of namespaces, or globs for whole names, in which * stands for any characters. The namespace must be named by at least one of them. Example: ["ci-*"].',
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
  },
  rules: [
    {
      message: 'namespaceSelector, names or both; for every namespace, namespaceSelector: {}',
      cel: 'has(self.namespaceSelector) || has(self.names)',
      offender: ({ namespaceSelector, names }) =>
        namespaceSelector === undefined && names === undefined ? [] : undefined,
    },
  ],
});
