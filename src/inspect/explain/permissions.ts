// Says what a user may do with a namespace, an object or a provider, and what Reeve would refuse.
import { emergencyGroup } from '../../schema/names.ts';
import { guessedPlural } from '../../base/plural.ts';
import { asStored } from '../../policy/terms/match.ts';
import { groupOf, type ObjectType, parseProviderId, useOf } from '../../policy/terms/provider-id.ts';
import type { Requester } from '../../rules/rule.ts';
import { judgeWrite, namespaceResource, writtenRequest, type WriteSides } from '../input/judged-write.ts';
import { namespaceType } from '../input/loaded-state.ts';
import type {
  ExplainedObject,
  ExplainedPermission,
  ExplainedProvider,
  ExplainOutput,
} from '../output-schemas/explanation.ts';
import type { LookedAt } from './looked-at.ts';

/** Adds to an explanation what the user may do. */
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

/** A user of a provider decides which namespaces it matches, and what they get from it. */
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
