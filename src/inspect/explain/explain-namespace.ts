// Explains a namespace: each policy, share and binding, what it provides there, and what each rule says.
import { policyIn } from '../../policy/compile/load-provider.ts';
import { cliApiVersion, readyCondition } from '../../schema/names.ts';
import { nameOf, type KubeObject } from '../../base/metadata.ts';
import { roleBindingType } from '../../base/object-type.ts';
import { clipped } from '../../base/text.ts';
import { endOfGrant, grantEndText } from '../../policy/terms/temporary-grant.ts';
import { grantText } from '../input/access.ts';
import { conditionOf, type Condition } from '../../base/condition.ts';
import { asStored } from '../../policy/terms/match.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import type { LoadedProvider } from '../../state/stored-provider.ts';
import { withObjects } from '../input/cluster-state.ts';
import { administrator, judgeWrite, namespaceResource, writtenRequest } from '../input/judged-write.ts';
import { planningState, namespaceType } from '../input/loaded-state.ts';
import type { ExplainedProvider, ExplainedRule, ExplainOutput } from '../output-schemas/explanation.ts';
import {
  sortedProviders,
  unreadProviders,
  type LookedAt,
  explainMatch,
  isAbout,
  noNamespace,
  whyUnmanaged,
  standingsIn,
  type ObjectStanding,
} from './looked-at.ts';
import { explainedPolicy } from './namespace-rules.ts';
import { usersOf } from './rights.ts';

export async function explainNamespace(name: string, at: LookedAt): Promise<ExplainOutput> {
  const { state } = at;
  const missing = at.cluster.snapshot().namespace(name) === undefined;
  if (!missing || state.unread.some(({ kind }) => kind === namespaceType.kind))
    return await explainedAt(name, at);
  const { summary, ...explanation } = await explainedAt(name, await asIfCreated(name, at));
  const absence = noNamespace(name, at);
  const start = `${absence}${absence.endsWith('?') ? '' : '.'} If it is created without labels: `;
  return {
    ...explanation,
    found: false,
    notes: [],
    summary: summary.replace(`namespace ${name}: `, () => start),
  };
}

/** Returns the state with the namespace, as policies would label and annotate it at its creation. */
async function asIfCreated(name: string, at: LookedAt): Promise<LookedAt> {
  const written = asStored({ ...namespaceType, metadata: { name } });
  const { object = written } = await judgeWrite(
    writtenRequest(namespaceResource, { after: written, before: undefined }, administrator),
    { snapshot: at.cluster.snapshot(), install: at.state.install, now: at.now },
  );
  return { ...at, ...planningState(withObjects(at.state, [{ ...object, ...namespaceType }]), at.now) };
}

async function explainedAt(name: string, at: LookedAt): Promise<ExplainOutput> {
  const { state, cluster } = at;
  const about = {
    apiVersion: cliApiVersion,
    kind: 'Explanation',
    about: 'namespace',
    target: { ...namespaceType, name },
    unread: state.unread,
  } as const;
  const namespaceObject = cluster.snapshot().namespace(name);
  if (namespaceObject === undefined) return { ...about, found: false, summary: noNamespace(name, at) };
  const standings = await standingsIn(namespaceObject, at);
  // The summary says all about an excluded namespace.
  const isExcluded = cluster.snapshot().policies.isExcluded(name);
  const loaded = isExcluded ? [] : sortedProviders(at).filter((each) => isAbout(each, name));
  const providers = loaded.map((each) => explained(each, namespaceObject, standings, at));
  const rules = rulesOf(loaded, providers, namespaceObject, at);
  const stored = conditionOf(namespaceObject['status'], readyCondition);
  const why = whyUnmanaged(namespaceObject, at);
  const notes = [
    ...(stored === undefined && state.isCluster && why === undefined ? [notReadyYet] : []),
    ...(why === undefined ? grantNotes(name, at) : []),
    ...(why === undefined ? keptValues(namespaceObject, at) : []),
  ];
  return {
    ...about,
    found: true,
    summary: `namespace ${name}: ${why ?? unreadProviders(at) ?? summaryOf(providers, rules)}`,
    ...(stored === undefined ? {} : { ready: shownCondition(stored) }),
    ...(notes.length === 0 ? {} : { notes }),
    providers,
    rules,
  };
}

const notReadyYet =
  'the namespace has no condition reeve.dev/Ready: Reeve has not looked at it yet, or does not run (see reeve check)';

/** Names the temporary access in the namespace, whose end no policy says. */
function grantNotes(namespace: string, { state }: LookedAt): readonly string[] {
  return state.objects(roleBindingType).flatMap((object) => {
    const end = object.metadata.namespace === namespace ? endOfGrant(object) : undefined;
    if (end === undefined) return [];
    const note = `RoleBinding ${nameOf(object)} gives temporary access (${grantText(object)}) ${grantEndText(end)}`;
    return [clipped(note, maxNote)];
  });
}

const maxNote = 1000;

/** Says which labels and annotations keep another value than the enforced one, and why. */
function keptValues(namespaceObject: KubeObject, { planning }: LookedAt): readonly string[] {
  const kept = planning.audits.keyRepairs(namespaceObject)?.kept ?? [];
  return kept.map(({ provider, message }) => `${provider}: ${message}`);
}

function explained(
  loaded: LoadedProvider,
  namespaceObject: KubeObject,
  standings: readonly ObjectStanding[],
  at: LookedAt,
): ExplainedProvider {
  const { id } = loaded.state;
  const match = explainMatch(loaded, namespaceObject, at);
  return {
    id,
    ...match,
    objects: objectsOf(id, standings),
    ...(match.matches === 'yes' && loaded.definition !== undefined
      ? { users: usersOf(loaded.definition, at) }
      : {}),
  };
}

function objectsOf(id: ProviderId, standings: readonly ObjectStanding[]): ExplainedProvider['objects'] {
  return standings.flatMap(({ provider, ...object }) => (provider === id ? [object] : []));
}

function rulesOf(
  loaded: readonly LoadedProvider[],
  providers: readonly ExplainedProvider[],
  namespaceObject: KubeObject,
  at: LookedAt,
): readonly ExplainedRule[] {
  const matching = new Set(providers.filter(({ matches }) => matches === 'yes').map(({ id }) => id));
  return loaded.flatMap(({ state, definition }) => {
    const policy = matching.has(state.id) ? policyIn(definition) : undefined;
    return policy === undefined ? [] : explainedPolicy(policy, at).rulesIn(namespaceObject);
  });
}

function summaryOf(providers: readonly ExplainedProvider[], rules: readonly ExplainedRule[]): string {
  const matching = providers.filter(({ matches }) => matches === 'yes').length;
  const violated = rules.filter(({ outcome }) => outcome === 'violated').length;
  const matched = `${matching} of ${providers.length} policies, shares and bindings match`;
  return violated === 0
    ? matched
    : `${matched}, and ${violated} ${violated === 1 ? 'rule is' : 'rules are'} violated`;
}

function shownCondition({ status, reason, message }: Condition) {
  return { status, reason, message };
}
