// Defines the kind ClusterSecurityIntentBinding: intents for many namespaces.
import type { Problem } from '../../base/problem.ts';
import { apiVersion } from '../../schema/names.ts';
import { matchOf } from '../namespace-policy/match.ts';
import { objectMetadata, providerName } from '../provider-fields.ts';
import { choice, object, specification } from '../../schema/build.ts';
import type { Infer } from '../../schema/schema.ts';
import { validate } from '../../schema/validate.ts';
import { readStatus, splitStatus } from '../status-fields.ts';
import {
  bindingFields,
  workloadProblems,
  type IntentBindingStatus,
  bindingStatus,
} from './intent-binding.ts';

const spec = specification({
  description: 'Which intents must hold, in which namespaces, and for which Pods.',
  fields: { match: matchOf('binding'), ...bindingFields },
  required: ['intents'],
});

export const clusterIntentBindingKind = 'ClusterSecurityIntentBinding';

/** The whole object without its status: Reeve writes the status, so it never makes a binding invalid. */
const clusterIntentBinding = object({
  description:
    'ClusterSecurityIntentBinding says which SecurityIntents must hold in many namespaces, new ones included. Reeve creates and keeps the objects that the security engines need for them.',
  fields: {
    apiVersion: choice('The group and version of the kind.', [apiVersion]),
    kind: choice('The kind.', [clusterIntentBindingKind]),
    metadata: objectMetadata(providerName),
    spec,
  },
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
});

/** The parts of the CRD whose schema Reeve defines. */
export const clusterIntentBindingSchemas = {
  description: clusterIntentBinding.description,
  name: providerName,
  spec,
  status: bindingStatus,
};

export type ClusterIntentBindingSpec = Infer<typeof spec>;
export type ClusterIntentBinding = Infer<typeof clusterIntentBinding> & {
  readonly status?: IntentBindingStatus;
};

type ParsedClusterBinding =
  | { readonly ok: true; readonly binding: ClusterIntentBinding }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function parseClusterIntentBinding(value: unknown): ParsedClusterBinding {
  const { rest, reported } = splitStatus(value);
  const outcome = validate(clusterIntentBinding, rest);
  if (!outcome.ok) return outcome;
  const problems = workloadProblems(outcome.value.spec);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, binding: { ...outcome.value, ...readStatus(bindingStatus, reported) } };
}
