// Lists the rights that a provider needs: those of its author, and those of Reeve's own account.
import { ownRights, type OwnRights } from '../../policy/authors/own-rights.ts';
import { neededRights, type RightsRule } from '../../policy/authors/needed-rights.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { missingRightsMessage } from '../../policy/status/missing-rights.ts';
import { installOf, type ClusterState } from '../input/cluster-state.ts';
import type { ExplainedRight } from '../output-schemas/explanation.ts';
import type { LookedAt } from './looked-at.ts';

interface ExplainedRights {
  readonly rights: readonly ExplainedRight[];
  /** What Reeve's own account lacks, and where to add it. */
  readonly missing: readonly string[];
}

/** The author needs rights for the write, and Reeve needs its own to keep the objects. */
export async function rightsOf(definition: ProviderDefinition, at: LookedAt): Promise<ExplainedRights> {
  const install = installOf(at.state.install);
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
