// Says who may use a provider: decide which namespaces it matches, and what they get from it.
import { mastersGroup } from '../../schema/names.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { useOf } from '../../policy/terms/provider-id.ts';
import { clipped } from '../../base/text.ts';
import type { LookedAt } from './looked-at.ts';

const maxUser = 200;

/** Its members have every right, even without a binding. */
const masters = `Group/${mastersGroup}`;

export function usersOf(
  { compiled, kind, object }: ProviderDefinition,
  { access }: LookedAt,
): readonly string[] {
  const requesters = kind === 'NamespacePolicy' ? object.spec.namespaces?.requesters : undefined;
  const named = [
    ...(requesters?.groups ?? []).map((name) => `Group/${name}`),
    ...(requesters?.users ?? []).map((name) => `User/${name}`),
    ...(requesters?.serviceAccounts ?? []).map((name) => `ServiceAccount/${name}`),
  ];
  const holders = access.holdersOf(useOf(compiled.id));
  return [
    ...named.map((subject) => `${subject} (spec.namespaces.requesters)`),
    ...holders.map(({ subject, through }) => `${subject} (${through})`),
    ...(holders.some(({ subject }) => subject === masters) ? [] : [masters]),
    ...(access.isComplete ? [] : ['perhaps others: roles or bindings could not be read']),
  ].map((user) => clipped(user, maxUser));
}
