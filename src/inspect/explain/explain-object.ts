// Explains one object of a namespace: who provides it and why, or why no provider does.
import { policyIn } from '../../policy/compile/load-provider.ts';
import { cliApiVersion } from '../../schema/names.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { rfc3339 } from '../../base/time.ts';
import { providerOf, type Claim } from '../../policy/desired/desired.ts';
import { roleBindingType } from '../../base/object-type.ts';
import {
  copiesOf,
  kindOfProvider,
  parseProviderId,
  type ProviderId,
  wordOf,
} from '../../policy/terms/provider-id.ts';
import { grantText } from '../input/access.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { endOfGrant, grantEndText } from '../../policy/terms/temporary-grant.ts';
import { ownershipOf } from '../../policy/plan/observed.ts';
import { compileGlob } from '../../cel/regex.ts';
import type { LoadedProvider } from '../../state/stored-provider.ts';
import { shownProblems } from '../input/loaded-state.ts';
import type { ExplainedProvider, ExplainOutput } from '../output-schemas/explanation.ts';
import {
  sortedProviders,
  unreadProviders,
  type LookedAt,
  explainMatch,
  isAbout,
  noNamespace,
  termText,
  whyUnmanaged,
  standingsIn,
  type ObjectStanding,
} from './looked-at.ts';
import type { ObjectTarget } from '../input/object-names.ts';

export async function explainObject(target: ObjectTarget, at: LookedAt): Promise<ExplainOutput> {
  const { type, namespace, name } = target;
  const { state, cluster } = at;
  const about = {
    apiVersion: cliApiVersion,
    kind: 'Explanation',
    about: 'object',
    target: { ...type, namespace, name },
    unread: state.unread,
  } as const;
  const namespaceObject = cluster.snapshot().namespace(namespace);
  if (namespaceObject === undefined) return { ...about, found: false, summary: noNamespace(namespace, at) };
  const live = state.find(type, namespace, name);
  const standings = (await standingsIn(namespaceObject, at)).filter(
    ({ object, outcome }) =>
      object.kind === type.kind &&
      (object.name === name || (outcome === 'skipped' && globOf(object.name).matches(name))),
  );
  const owner = live === undefined ? undefined : ownershipOf(type, live).owner;
  const loaded = sortedProviders(at).filter((each) => isAbout(each, namespace));
  const providers = loaded
    .filter(
      (each) =>
        each.state.id === owner ||
        standings.some(({ provider }) => provider === each.state.id) ||
        couldProvide(each, target, namespaceObject),
    )
    .map((each): ExplainedProvider => ({
      id: each.state.id,
      ...explainMatch(each, namespaceObject, at),
      objects: standings.flatMap(({ provider, ...object }) => (provider === each.state.id ? [object] : [])),
    }));
  const why = whyUnmanaged(namespaceObject, at);
  const facts = { target, live, owner, standings, providers, why };
  const notes = [
    ...grantNotes(facts, namespaceObject, at),
    ...(standings.length === 0 ? invalidNotes(loaded, type.kind) : []),
  ];
  const found = live !== undefined;
  return { ...about, found, summary: summaryOf(facts, at), ...(notes.length > 0 && { notes }), providers };
}

/** Says what a RoleBinding grants and should grant. Names the next command if another object is in the way. */
function grantNotes(
  { target, live, standings }: Pick<Facts, 'target' | 'live' | 'standings'>,
  namespaceObject: KubeObject,
  at: LookedAt,
): readonly string[] {
  const conflict = standings.find(({ outcome }) => outcome === 'conflict');
  const other = parseProviderId(conflict?.provider);
  return [
    ...(target.type.kind === roleBindingType.kind
      ? bindingNotes(target, live, claimsIn(namespaceObject, at))
      : []),
    ...(other === undefined ? [] : [`run next: ${adoptCommand(other, target.namespace)}`]),
  ].map((note) => clipped(note, maxNote));
}

function claimsIn(namespaceObject: KubeObject, { planning }: LookedAt): readonly Claim[] {
  return [...planning.desiredCache.of(namespaceObject).claims.values()].flat();
}

function bindingNotes(
  { type, name }: ObjectTarget,
  live: KubeObject | undefined,
  claims: readonly Claim[],
): readonly string[] {
  const claim = claims.find((each) => each.type.kind === type.kind && each.name === name);
  const wanted = claim?.content.kind === 'object' ? grantText(claim.content.body) : undefined;
  const existing = live && grantText(live);
  const end = claim?.expiresAt === undefined ? 'no end' : rfc3339(new Date(claim.expiresAt));
  return [
    ...(wanted === undefined ? [] : [`${claim?.provider ?? ''} wants it to grant ${wanted}; until: ${end}`]),
    ...(existing === undefined || existing === wanted ? [] : [`the existing one grants ${existing}`]),
  ];
}

const maxNote = 1000;

/** The command is a dry run. */
function adoptCommand(provider: ProviderId, namespace: string): string {
  // The word alone stands for a SecretShare.
  const isOtherShare = kindOfProvider(provider) === 'ConfigMapShare';
  const name = isOtherShare ? provider : provider.slice(provider.indexOf('/') + 1);
  return `reeve adopt --${wordOf(provider)} ${name} -n ${namespace} --dry-run`;
}

/** Names invalid providers, because what they would provide is not known. A share provides copies only. */
function invalidNotes(loaded: readonly LoadedProvider[], kind: string): readonly string[] {
  return loaded
    .filter(
      ({ definition, state }) => definition === undefined && (copiesOf(state.id)?.kind ?? kind) === kind,
    )
    .map(
      ({ state, problems }) => `${state.id} could provide it, but does not load: ${shownProblems(problems)}`,
    );
}

interface Facts {
  readonly target: ObjectTarget;
  readonly live: KubeObject | undefined;
  readonly owner: ProviderId | undefined;
  readonly standings: readonly ObjectStanding[];
  readonly providers: readonly ExplainedProvider[];
  readonly why: string | undefined;
}

function summaryOf({ target, live, owner, standings, providers, why }: Facts, at: LookedAt): string {
  const { type, namespace, name } = target;
  const object = `${type.kind} ${namespace}/${name}`;
  const unread = at.state.unread.find(({ kind }) => kind === type.kind);
  const [first] = standings;
  const given = standings.find(({ outcome }) => outcome === 'in sync') ?? first;
  if (live === undefined && unread !== undefined)
    return `${object}: ${type.kind} could not be read: ${unread.reason}`;
  if (given !== undefined) {
    const start = live === undefined ? `there is no ${object}` : object;
    return `${start}: ${given.provider} ${wordsOf(given)}`;
  }
  if (owner !== undefined) return `${object} has the mark of ${owner}${why === undefined ? '' : `; ${why}`}`;
  const reason = why ?? unreadProviders(at) ?? nearMiss(providers);
  return live === undefined ? `there is no ${object}: ${reason}` : unmanagedText(object, live, why, reason);
}

// oxlint-disable-next-line max-params -- the parts of one sentence
function unmanagedText(object: string, live: KubeObject, why: string | undefined, reason: string): string {
  const isEnded = why === undefined && live.kind === roleBindingType.kind;
  const end = isEnded ? endOfGrant(live) : undefined;
  return end === undefined
    ? `Reeve does not manage ${object}: ${reason}`
    : `${object} is temporary access ${grantEndText(end)}`;
}

const endings: ReadonlyMap<string, string> = new Map([
  ['expired', 'no longer provides it, because its end has come'],
  [
    'created once',
    'wants it created once, and that is done: Reeve leaves it to the namespace, and does not create it again',
  ],
]);

function wordsOf({ outcome, message = '' }: ObjectStanding): string {
  const ending = endings.get(outcome);
  if (ending !== undefined) return ending;
  switch (outcome) {
    case 'in sync':
      return `${message === '' ? 'provides it' : `${message} to it`}, and it is in sync`;
    case 'create':
      return 'provides it, and Reeve is about to create it';
    case 'update':
    case 're-create':
      return 'provides it; it differs, and Reeve is about to change it';
    case 'skipped':
      return `leaves it out here, because ${message}`;
    case 'conflict':
    case 'blocked':
      return `cannot provide it: ${message}`;
    default:
      return `has it: ${message === '' ? outcome : message}`;
  }
}

function nearMiss([first, ...others]: readonly ExplainedProvider[]): string {
  if (first === undefined) return 'no policy, share or binding provides an object of this name';
  const { id, term, message } = first;
  if (others.length > 0)
    return `${id} and ${others.length} more could provide it, and do not provide it here`;
  if (term !== undefined) return `${id} does not match: ${termText(term)}`;
  return `${id} could provide it, and does not provide it here${message === undefined ? '' : `: ${message}`}`;
}

/** Returns true if the provider wants the object in another namespace, or if a template could give this name. */
function couldProvide(
  { definition }: LoadedProvider,
  target: ObjectTarget,
  namespaceObject: KubeObject,
): boolean {
  if (definition === undefined) return false;
  const { type, name } = target;
  const contents = policyIn(definition)?.compiled.contents ?? [];
  return (
    contents.some((content) => content.type.kind === type.kind && globOf(content.name).matches(name)) ||
    providerOf(definition)
      .render(namespaceObject, unlimitedBudget)
      .flat()
      .some(
        (each) => each.kind === 'present' && each.value.type.kind === type.kind && each.value.name === name,
      )
  );
}

/** An expression of a template can become any text. */
function globOf(template: string): ReturnType<typeof compileGlob> {
  return compileGlob(template.replace(/\$\{.*\}/, '*'));
}
