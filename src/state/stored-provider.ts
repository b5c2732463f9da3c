// Loads a provider from the cluster: its state, and the version of it that is in force.
import { isDeepStrictEqual } from 'node:util';
import { ownMember } from '../base/json.ts';
import { type KubeObject, annotationsOf, isTerminating, nameOf, valueOf } from '../base/metadata.ts';
import { contentKinds } from '../contents/contents.ts';
import { cleanupFinalizer, confirmDeletionsAnnotation } from '../schema/names.ts';
import { renderProblem, type Problem } from '../base/problem.ts';
import { deletionRecordOf } from '../policy/terms/deletion-record.ts';
import { waveRecordOf } from '../policy/plan/waves.ts';
import { noIntents, type IntentContext } from '../policy/intents/intent-context.ts';
import { kinds, type ProviderKind } from '../api/kinds.ts';
import { kindOfProvider, providerId, providerRef, type ProviderState } from '../policy/terms/provider-id.ts';
import {
  loadSubmitted,
  type ProviderDefinition,
  type ProviderLoad,
  policyIn,
} from '../policy/compile/load-provider.ts';

/**
 * `loaded`: the stored version is in force. `last-good`: the stored version does not load, and an earlier version is in force.
 * `refused`: the stored version does not load, and this process has never seen a version that does.
 */
export type Standing = 'loaded' | 'last-good' | 'refused';

export interface LoadedProvider {
  readonly state: ProviderState;
  readonly standing: Standing;
  /** The definition in force; undefined when none loads. */
  readonly definition: ProviderDefinition | undefined;
  /** The problems of the stored version; empty when it loads. */
  readonly problems: readonly Problem[];
  /** The spec as it is stored. */
  readonly spec: unknown;
}

/** `before` is the previous state of the same object, with the version then in force. Undefined for a new object. */
export function loadStored(
  kind: ProviderKind,
  object: KubeObject,
  before: LoadedProvider | undefined,
  context: IntentContext = noIntents,
): LoadedProvider {
  const { spec } = object;
  const { standing, definition, problems } =
    before !== undefined && isDeepStrictEqual(before.spec, spec)
      ? before
      : inForce(loadSubmitted(kind, object, context), before);
  return { standing, definition, problems, spec, state: stateOf(kind, object, standing, definition) };
}

/** Loads the stored version of a binding again, because an intent or an adapter has changed. */
export function reloadStored(loaded: LoadedProvider, context: IntentContext): LoadedProvider {
  const { state, spec } = loaded;
  const { name, namespace } = providerRef(state.id);
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const load = loadSubmitted(kindOfProvider(state.id), { metadata, spec }, context);
  const now = inForce(load, loaded);
  const isValid = now.standing === 'loaded';
  return { ...now, spec, state: { ...state, isValid, provides: definesContents(now.definition) } };
}

/** Renders the problems of the stored version on one line, as many as fit into a condition. */
export function problemsText(problems: readonly Problem[]): string {
  let text = '';
  for (const [index, problem] of problems.entries()) {
    const next = `${index === 0 ? '' : '; '}${renderProblem(problem)}`;
    if (text.length + next.length > maxMessageLength) return `${text}; and ${problems.length - index} more`;
    text += next;
  }
  return text;
}

/** A condition's message has at most 32768 characters; the rest is left for the text around the problems. */
const maxMessageLength = 32_000;

function inForce(
  load: ProviderLoad,
  before: LoadedProvider | undefined,
): Pick<LoadedProvider, 'standing' | 'definition' | 'problems'> {
  if (load.ok) return { standing: 'loaded', definition: load.value, problems: [] };
  const definition = before?.definition;
  const standing = definition === undefined ? 'refused' : 'last-good';
  return { standing, definition, problems: load.problems };
}

/** Reads the state without the schema, because an invalid provider can be deleted, suspended and confirmed as well. */
function stateOf(
  kind: ProviderKind,
  object: KubeObject,
  standing: Standing,
  definition: ProviderDefinition | undefined,
): ProviderState {
  const { uid, generation, resourceVersion, finalizers } = object.metadata;
  const { spec, status } = object;
  const maxDeletions = ownMember(spec, 'maxDeletions');
  const confirmationUsed = ownMember(status, 'confirmationUsed');
  return {
    id: providerId(kind, nameOf(object), object.metadata.namespace),
    uid: uid ?? '',
    generation: typeof generation === 'number' ? generation : 0,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    isValid: standing === 'loaded',
    isDeleting: isTerminating(object),
    hasFinalizer: Array.isArray(finalizers) && finalizers.includes(cleanupFinalizer),
    provides: kinds[kind].copies !== undefined || hasContents(spec) || definesContents(definition),
    isSuspended: ownMember(spec, 'suspend') === true,
    deletionPolicy: ownMember(spec, 'deletionPolicy') === 'Orphan' ? 'Orphan' : 'Delete',
    maxDeletions: isCount(maxDeletions) ? maxDeletions : 20,
    confirmation: valueOf(annotationsOf(object), confirmDeletionsAnnotation),
    confirmationUsed: typeof confirmationUsed === 'string' ? confirmationUsed : undefined,
    deletions: deletionRecordOf(status),
    ...(ownMember(status, 'waves') === undefined ? {} : storedGate(status)),
  };
}

function storedGate(status: unknown): Pick<ProviderState, 'waves'> {
  const { values, through, isStopped } = waveRecordOf(status) ?? {};
  return values === undefined || through === undefined
    ? {}
    : { waves: { values, through, isStopped: isStopped === true } };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function hasContents(spec: unknown): boolean {
  const value = ownMember(spec, 'contents');
  return contentKinds.some(({ name }) => {
    const items = ownMember(value, name);
    return Array.isArray(items) && items.length > 0;
  });
}

function definesContents(definition: ProviderDefinition | undefined): boolean {
  return (policyIn(definition)?.compiled.contents ?? []).length > 0;
}

/** Returns true when the change can change objects in namespaces. A written status cannot. */
export function affectsNamespaces(
  before: LoadedProvider | undefined,
  after: LoadedProvider | undefined,
): boolean {
  return (
    before?.definition !== after?.definition ||
    !isDeepStrictEqual(decidingState(before), decidingState(after))
  );
}

/** Returns the part of the state that decides about objects. */
function decidingState(loaded: LoadedProvider | undefined): unknown {
  if (loaded === undefined) return undefined;
  const {
    resourceVersion: _version,
    generation: _generation,
    hasFinalizer: _finalizer,
    deletions: _deletions,
    ...rest
  } = loaded.state;
  return rest;
}
