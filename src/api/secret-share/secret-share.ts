// The kind SecretShare: its fields, the types that follow from them, and its reading from any value.
import { apiVersion } from '../names.ts';
import { objectMetadata } from '../object-metadata.ts';
import type { Problem } from '../../base/problem.ts';
import { providerFields, providerName } from '../provider-fields.ts';
import { readStatus, splitStatus } from '../reported-status.ts';
import { choice, object } from '../schema/build.ts';
import type { Infer } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import { source } from './source.ts';
import { status } from './status.ts';
import { target } from './target.ts';
import { targets } from './targets.ts';

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
  status,
};

export type SecretShareSpec = Infer<typeof spec>;
export type SecretShareStatus = Infer<typeof status>;
export type SecretShare = Infer<typeof secretShare> & { readonly status?: SecretShareStatus };

type ParsedShare =
  | { readonly ok: true; readonly share: SecretShare }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function parseSecretShare(value: unknown): ParsedShare {
  const { rest, reported } = splitStatus(value);
  const outcome = validate(secretShare, rest);
  if (!outcome.ok) return outcome;
  return { ok: true, share: { ...outcome.value, ...readStatus(status, reported) } };
}
