// Defines the kind SecurityIntentBinding, and the fields that both kinds of bindings have.
import type { Problem } from '../../base/problem.ts';
import { apiVersion } from '../../schema/names.ts';
import { namespacedMetadata, providerFields, providerName } from '../provider-fields.ts';
import { choice, list, object, specification } from '../../schema/build.ts';
import type { Infer } from '../../schema/schema.ts';
import { validate } from '../../schema/validate.ts';
import { readStatus, splitStatus } from '../status-fields.ts';
import { bindingStatus } from './status.ts';
import { workloads, workloadSelector, type WorkloadsSpec } from './workloads.ts';

export const bindingFields = {
  intents: list({
    description: 'The names of the SecurityIntents that must hold. Example: [escape-to-host].',
    items: { ...providerName, description: 'The name of a SecurityIntent. It may be created later.' },
    minItems: 1,
    maxItems: 20,
    unique: 'set',
  }),
  workloads,
  ...providerFields({
    provider: 'binding',
    provided: 'objects',
    whileSuspended: '. Rules on Namespaces still apply.',
  }),
} as const;

const spec = specification({
  description: 'Which intents must hold in the namespace of the binding, and for which Pods.',
  fields: bindingFields,
  required: ['intents'],
});

export const intentBindingKind = 'SecurityIntentBinding';

/** The whole object without its status: Reeve writes the status, so it never makes a binding invalid. */
const intentBinding = object({
  description:
    'SecurityIntentBinding says which SecurityIntents must hold in its own namespace. Reeve creates and keeps the objects that the security engines need for them.',
  fields: {
    apiVersion: choice('The group and version of the kind.', [apiVersion]),
    kind: choice('The kind.', [intentBindingKind]),
    metadata: namespacedMetadata(providerName),
    spec,
  },
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
});

/** The parts of the CRD whose schema Reeve defines. */
export const intentBindingSchemas = {
  description: intentBinding.description,
  name: providerName,
  spec,
  status: bindingStatus,
};

export type IntentBindingStatus = Infer<typeof bindingStatus>;
export type IntentBinding = Infer<typeof intentBinding> & { readonly status?: IntentBindingStatus };

type ParsedBinding =
  | { readonly ok: true; readonly binding: IntentBinding }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function parseIntentBinding(value: unknown): ParsedBinding {
  const { rest, reported } = splitStatus(value);
  const outcome = validate(intentBinding, rest);
  if (!outcome.ok) return outcome;
  const problems = workloadProblems(outcome.value.spec);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, binding: { ...outcome.value, ...readStatus(bindingStatus, reported) } };
}

export function workloadProblems({
  workloads: given,
}: {
  readonly workloads?: WorkloadsSpec;
}): readonly Problem[] {
  const selected = workloadSelector(given);
  return selected.ok ? [] : selected.problems;
}
