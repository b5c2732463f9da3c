// The kind SecretShare: its fields, the types that follow from them, and its reading from any value.
import { apiVersion } from '../names.ts';
import type { Problem } from '../../base/problem.ts';
import { providerFields, providerName, objectMetadata } from '../provider-fields.ts';
import { choice, object, list } from '../schema/build.ts';
import type { Infer } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import { shareStatus } from './status.ts';
import { target, secretName } from './target.ts';
import { namespaceName, namespaceGlob } from '../common-fields.ts';
import { labelSelector } from '../namespace-policy/match.ts';
import { readStatus, splitStatus } from '../status-fields.ts';

const source = object({
  description:
    'The Secret that is shared. While it is gone, its copies stay as they are. A copy that Reeve manages is never a source, and neither are Secrets of type kubernetes.io/service-account-token, bootstrap.kubernetes.io/token or helm.sh/release.v1.',
  fields: {
    namespace: namespaceName(
      'The namespace of the Secret: one of those that the installation names for sources. No share reaches into them, so a source is never its own target. Example: reeve-shared.',
    ),
    name: secretName('The name of the Secret. Example: regcred.'),
  },
  required: ['namespace', 'name'],
});

const targets = object({
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

const spec = object({
  description: 'Which Secret is shared, which namespaces get a copy of it, and what the copies look like.',
  fields: {
    source,
    targets,
    target,
    ...providerFields({ provider: 'share', provided: 'copies', whileSuspended: '.' }),
  },
  required: ['source', 'targets'],
});

export const secretShareKind = 'SecretShare';

/** Everything but the status, which is ours and never makes a share invalid. */
const secretShare = object({
  description:
    'SecretShare keeps copies of one Secret in many namespaces, new ones included. Reeve makes them, restores them, follows the source, and removes them when they are no longer wanted.',
  fields: {
    apiVersion: choice('The group and version of the kind.', [apiVersion]),
    kind: choice('The kind.', [secretShareKind]),
    metadata: objectMetadata(providerName),
    spec,
  },
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
});

/** For the CRD: the parts whose schema is ours to say. */
export const secretShareSchemas = {
  description: secretShare.description,
  name: providerName,
  spec,
  status: shareStatus,
};

export type SecretShareSpec = Infer<typeof spec>;
export type SecretShareStatus = Infer<typeof shareStatus>;
export type SecretShare = Infer<typeof secretShare> & { readonly status?: SecretShareStatus };

type ParsedShare =
  | { readonly ok: true; readonly share: SecretShare }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function parseSecretShare(value: unknown): ParsedShare {
  const { rest, reported } = splitStatus(value);
  const outcome = validate(secretShare, rest);
  if (!outcome.ok) return outcome;
  return { ok: true, share: { ...outcome.value, ...readStatus(shareStatus, reported) } };
}
