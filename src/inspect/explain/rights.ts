// Lists the rights that a provider needs: those of its author, and those of Reeve's own account.
import {
  ownRights,
  type OwnRights,
  neededRights,
  type RightsRule,
} from '../../policy/authors/needed-rights.ts';
import { type ProviderDefinition, policyIn } from '../../policy/compile/load-provider.ts';
import { missingRightsMessage } from '../../policy/status/provider-conditions.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import type {
  ExplainedRight,
  ExplainedObject,
  ExplainedPermission,
  ExplainedProvider,
  ExplainOutput,
} from '../output-schemas/explanation.ts';
import type { LookedAt } from './looked-at.ts';
import { mastersGroup, emergencyGroup } from '../../schema/names.ts';
import { groupOf, type ObjectType } from '../../base/object-type.ts';
import { useOf, parseProviderId } from '../../policy/terms/provider-id.ts';
import { clipped, guessedPlural } from '../../base/text.ts';
import { asStored } from '../../policy/terms/match.ts';
import type { Requester } from '../../rules/rule.ts';
import { judgeWrite, namespaceResource, writtenRequest, type WriteSides } from '../input/judged-write.ts';
import { namespaceType } from '../input/loaded-state.ts';

interface ExplainedRights {
  readonly rights: readonly ExplainedRight[];
  /** The rights that Reeve's own account lacks, each with the place to add it. */
  readonly missing: readonly string[];
}

/** Returns the rights that the author needs for the write, and those that Reeve needs to keep the objects. */
export async function rightsOf(definition: ProviderDefinition, at: LookedAt): Promise<ExplainedRights> {
  const { install } = at.state;
  const own = await Promise.all(
    ownRights(definition, install).map(async (rule) => ({ rule, outcome: await reeveHas(rule, at) })),
  );
  const missing = own.flatMap(({ rule, outcome }) => (outcome === 'missing' ? [rule] : []));
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

/** Says which right Reeve's account has. Unknown if Reeve is not in the state. */
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

/** Returns Reeve's account, as the install names it. */
export function reeveAccount({ install: { namespace } }: ClusterState) {
  return {
    username: `system:serviceaccount:${namespace}:reeve-reconciler`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

/** Examples: `create, patch on rolebindings.rbac.authorization.k8s.io`, `get on secrets/regcred in namespace reeve-shared`. */
export function rightText({ verbs, group, resource, name, namespace }: RightsRule): string {
  const object = `${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : `/${name}`}`;
  return `${verbs.join(', ')} on ${object}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}

// Says who may use a provider: decide which namespaces it matches, and what they get from it.

const maxUser = 200;

/** The members of this group have every right, even without a binding. */
const masters = `Group/${mastersGroup}`;

export function usersOf(definition: ProviderDefinition, { access }: LookedAt): readonly string[] {
  const requesters = policyIn(definition)?.compiled.requesters;
  const named = [
    ...(requesters?.groups ?? []).map((name) => `Group/${name}`),
    ...(requesters?.users ?? []).map((name) => `User/${name}`),
    ...(requesters?.serviceAccounts ?? []).map((name) => `ServiceAccount/${name}`),
  ];
  const holders = access.holdersOf(useOf(definition.compiled.id));
  return [
    ...named.map((subject) => `${subject} (spec.namespaces.requesters)`),
    ...holders.map(({ subject, through }) => `${subject} (${through})`),
    ...(holders.some(({ subject }) => subject === masters) ? [] : [masters]),
    ...(access.isComplete ? [] : ['perhaps others: roles or bindings could not be read']),
  ].map((user) => clipped(user, maxUser));
}

// Says what a user may do with a namespace, an object or a provider, and what Reeve would refuse.

export async function withPermissions(
  output: ExplainOutput,
  user: Requester,
  at: LookedAt,
): Promise<ExplainOutput> {
  const { providers = [], about, target } = output;
  const ofNamespace = about === 'namespace' ? await namespacePermissions(target.name, user, at) : [];
  const may = [
    ...ofNamespace,
    ...(await Promise.all(
      providers.filter(({ matches }) => matches === 'yes').map((each) => usePermission(each, user, at)),
    )),
    ...(about === 'provider' ? [] : await objectPermissions(providers, user, at)),
  ];
  return { ...output, user: user.username, may };
}

async function namespacePermissions(
  name: string,
  user: Requester,
  at: LookedAt,
): Promise<readonly ExplainedPermission[]> {
  const stored = at.cluster.snapshot().namespace(name);
  const fresh = asStored({ ...namespaceType, metadata: { name } });
  const sides = { after: stored === undefined ? fresh : undefined, before: stored };
  const verb = stored === undefined ? 'create' : 'delete';
  const action = `${verb} namespace ${name}`;
  const right = await at.mayDo(user, { verb, group: '', resource: 'namespaces', name });
  if (right === 'no') return [{ action, outcome: 'no right' }];
  const message = await refusalOf(sides, user, at);
  if (message !== undefined) return [{ action, outcome: 'refused', message }];
  return [{ action, outcome: right === 'yes' ? 'allowed' : 'unknown' }];
}

async function refusalOf(sides: WriteSides, user: Requester, at: LookedAt): Promise<string | undefined> {
  const { answer } = await judgeWrite(writtenRequest(namespaceResource, sides, user), {
    snapshot: at.cluster.snapshot(),
    install: at.state.install,
    access: { mayDo: at.mayDo },
    now: at.now,
  });
  return answer.refusal?.message;
}

/** A user with the verb `use` decides which namespaces the provider matches, and what they get from it. */
async function usePermission(
  { id }: ExplainedProvider,
  user: Requester,
  at: LookedAt,
): Promise<ExplainedPermission> {
  const action = `change labels that decide what ${id} matches and gives`;
  const provider = parseProviderId(id);
  const answer = provider === undefined ? 'unknown' : await at.mayDo(user, useOf(provider));
  if (answer === 'yes') return { action, outcome: 'allowed' };
  if (answer === 'unknown') return { action, outcome: 'unknown' };
  return { action, outcome: 'refused', message: 'the right use is missing' };
}

/** The guard refuses changes of what Reeve provides, whatever rights the user has. */
async function objectPermissions(
  providers: readonly ExplainedProvider[],
  user: Requester,
  at: LookedAt,
): Promise<readonly ExplainedPermission[]> {
  const provided = providers.flatMap(({ id, objects }) => objects.map((each) => ({ id, ...each })));
  const existing = provided.filter(({ outcome }) => outcome === 'in sync' || outcome === 'update');
  return await Promise.all(existing.map((each) => changePermission(each, user, at)));
}

async function changePermission(
  { id, object }: ExplainedObject & { readonly id: string },
  user: Requester,
  { mayDo }: LookedAt,
): Promise<ExplainedPermission> {
  const { kind, name, namespace = '' } = object;
  const action = `change or delete ${kind}/${name}`;
  const right = await mayDo(user, { verb: 'update', ...resourceOf(object), name, namespace });
  if (right === 'no') return { action, outcome: 'no right' };
  if (user.groups.includes(emergencyGroup))
    return { action, outcome: right === 'yes' ? 'allowed' : 'unknown' };
  return { action, outcome: 'refused', message: `${id} provides it` };
}

function resourceOf({ apiVersion, kind }: ObjectType) {
  return { group: groupOf(apiVersion), resource: guessedPlural(kind) };
}
