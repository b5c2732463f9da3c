// Defines the kind SecretShare: its fields, the types derived from them, and how to parse one.
import { apiVersion } from '../../schema/names.ts';
import type { Problem } from '../../base/problem.ts';
import { providerFields, providerName, objectMetadata } from '../provider-fields.ts';
import { choice, list, object, specification } from '../../schema/build.ts';
import type { Infer } from '../../schema/schema.ts';
import { validate } from '../../schema/validate.ts';
import { shareStatus } from './status.ts';
import { target, secretName } from './target.ts';
import { namespaceName, namespaceGlob } from '../../schema/common-fields.ts';
import { labelSelector } from '../namespace-policy/match.ts';
import { readStatus, splitStatus } from '../status-fields.ts';

const source = object({
  description:
    'The Secret that is shared. While it is missing, its copies stay as they are. A copy that Reeve manages is never a source, and neither are Secrets of type kubernetes.io/service-account-token, bootstrap.kubernetes.io/token or helm.sh/release.v1.',
  fields: {
    namespace: namespaceName(
      'The namespace of the Secret: one of the source namespaces of the installation. No share copies into these namespaces, so a source is never its own target. Example: reeve-shared.',
    ),
    name: secretName('The name of the Secret. Example: regcred.'),
  },
  required: ['namespace', 'name'],
});

const targets = object({
  description:
    'Which namespaces get a copy. namespaceSelector, names or both are required, and all given terms must hold. For every namespace, use {namespaceSelector: {}} or {names: ["*"]}. Never matched: kube-system, kube-public, kube-node-lease, the namespaces of Reeve, source namespaces, and namespaces that the installation excludes.',
  fields: {
    namespaceSelector: labelSelector,
    names: list({
      description:
        'Names of namespaces, or globs for whole names, where * stands for any characters. At least one must match. Example: ["ci-*"].',
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
      accepted: 'namespaceSelector, names or both; for every namespace, use namespaceSelector: {}',
      must: 'have',
      cel: 'has(self.namespaceSelector) || has(self.names)',
      offender: ({ namespaceSelector, names }) =>
        namespaceSelector === undefined && names === undefined ? [] : undefined,
    },
  ],
});

const spec = specification({
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

/** The whole object without its status: Reeve writes the status, so it never makes a share invalid. */
const secretShare = object({
  description:
    'SecretShare keeps copies of one Secret in many namespaces, new ones included. Reeve creates the copies, updates them when the source changes, restores them when they are changed, and deletes them when the share no longer wants them.',
  fields: {
    apiVersion: choice('The group and version of the kind.', [apiVersion]),
    kind: choice('The kind.', [secretShareKind]),
    metadata: objectMetadata(providerName),
    spec,
  },
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
});

/** The parts of the CRD whose schema Reeve defines. */
export const secretShareSchemas = {
  description: secretShare.description,
  name: providerName,
  spec,
  status: shareStatus,
};

export type SecretShareSpec = Infer<typeof spec>;
type SecretShareStatus = Infer<typeof shareStatus>;
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
