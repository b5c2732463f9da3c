// Lists the rights that a provider needs: those of its author, and those of Reeve's own account.
import {
  ownRights,
  type OwnRights,
  neededRights,
  type RightsRule,
} from '../../policy/authors/needed-rights.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { missingRightsMessage } from '../../policy/status/provider-conditions.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import type { ExplainedRight } from '../output-schemas/explanation.ts';
import type { LookedAt } from './looked-at.ts';
import { mastersGroup } from '../../schema/names.ts';
import { useOf } from '../../policy/terms/provider-id.ts';
import { clipped } from '../../base/text.ts';

interface ExplainedRights {
  readonly rights: readonly ExplainedRight[];
  /** What Reeve's own account lacks, and where to add it. */
  readonly missing: readonly string[];
}

/** The author needs rights for the write, and Reeve needs its own to keep the objects. */
export async function rightsOf(definition: ProviderDefinition, at: LookedAt): Promise<ExplainedRights> {
  const { install } = at.state;
  const own = await Promise.all(
    ownRights(definition, install).map(async (rule) => ({ rule, outcome: await reeveHas(rule, at) })),
  );
  const missing = own.flatMap(({ rule, outcome }) =>
    outcome === 'missing' ? [{ ...rule, addTo: at.whereToAdd(rule.purpose) }] : [],
  );
  return {
    rights: [
      ...neededRights(definition, install).map((rule): ExplainedRight => ({
        holder: 'the author',
        right: rightText(rule),
        outcome: 'unknown',
      })),
      ...own.map(({ rule, outcome }): ExplainedRight => ({
        holder: 'Reeve',
        right: rightText(rule),
        outcome,
      })),
    ],
    missing: missing.length === 0 ? [] : [missingRightsMessage(missing)],
  };
}

/** Without Reeve in the state, nothing is known of its rights. */
async function reeveHas(
  { verbs, group, resource, name, namespace }: OwnRights,
  { mayDo, state }: LookedAt,
): Promise<ExplainedRight['outcome']> {
  if (state.install.isAssumed) return 'unknown';
  const place = { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) };
  const account = reeveAccount(state);
  const answers = await Promise.all(
    verbs.map(async (verb) => await mayDo(account, { verb, group, resource, ...place })),
  );
  if (answers.includes('no')) return 'missing';
  return answers.includes('unknown') ? 'unknown' : 'held';
}

/** As the install names it. */
export function reeveAccount({ install: { namespace } }: ClusterState) {
  return {
    username: `system:serviceaccount:${namespace}:reeve-reconciler`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

/** `create, patch, delete on rolebindings.rbac.authorization.k8s.io`, `get on secrets/regcred in namespace reeve-shared` */
export function rightText({ verbs, group, resource, name, namespace }: RightsRule): string {
  const object = `${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : `/${name}`}`;
  return `${verbs.join(', ')} on ${object}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}

// Says who may use a provider: decide which namespaces it matches, and what they get from it.

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
