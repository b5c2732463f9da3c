// Describes a write of a policy or share as two versions, and the fate of the objects that it no longer wants.
import { cleanupFinalizer } from '../../schema/names.ts';
import type { QuotaMember, QuotaSpec } from '../../rules/namespace-quota.ts';
import { ownMember } from '../../base/json.ts';
import { type KubeObject, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import type { AuditedResource } from '../decide/audit.ts';
import type { Circumstances } from '../terms/budget.ts';
import { isManaged } from '../desired/desired.ts';
import { deletionRecordOf, type DeletionRecord } from '../terms/deletion-record.ts';
import type { ProviderKind } from '../../api/kinds.ts';
import { namespaceOfProvider, type ProviderId, isBindingKind } from '../terms/provider-id.ts';
import {
  type ProviderDefinition,
  loadSubmitted,
  policyIn,
  type ProviderLoad,
} from '../compile/load-provider.ts';
import { type Install } from '../terms/install.ts';
import type { ClusterSnapshot, StoredBinding } from '../compile/snapshot.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { matchNamespace } from '../terms/match.ts';
import type { Problem } from '../../base/problem.ts';
import { isDeepStrictEqual } from 'node:util';
import { FormCache } from '../intents/form-cache.ts';
import { withAllServed, type IntentContext } from '../intents/intent-context.ts';

export interface ProviderCircumstances extends Circumstances {
  readonly install: Install;
}

export interface ProviderWrite {
  readonly id: ProviderId;
  /** Undefined on CREATE, and if the stored version does not load. */
  readonly before: ProviderDefinition | undefined;
  /** Undefined on DELETE. */
  readonly after: ProviderDefinition | undefined;
  readonly reported: ReportedState;
  /** Both versions, as if the API server served the kinds of all adapters. Set for a binding only. */
  readonly allServed?: Pick<ProviderWrite, 'before' | 'after'>;
  /** True if the write is one of an intent that this binding names. The binding itself does not change. */
  readonly isByIntent?: true;
}

/** The report of the status on the older version. The reconciler decides by live objects, whatever a status says. */
interface ReportedState {
  /** True if the status is about the older version, and not about an earlier one. */
  readonly isCurrent: boolean;
  /** True for a share without a source and without copies. */
  readonly hasNoCopies: boolean;
  /** True if the fuse holds deletions. */
  readonly holdsDeletions: boolean;
  /** Earlier deletions, and deletions that are underway. */
  readonly deletions: DeletionRecord;
  /** The number of wanted objects, if all of them exist. Undefined if some are missing or nothing is known. */
  readonly existing: number | undefined;
  /** The number of objects that existed, whichever version the status is about. */
  readonly synced: number;
  /** False on CREATE. */
  readonly isStored: boolean;
  /** True for a stored object without the finalizer that Reeve adds before it creates the first object. */
  readonly lacksFinalizer: boolean;
  /** The violations of `status.violationsByResource`, without Namespaces, which the webhook judges itself. */
  readonly violations: ReadonlyMap<AuditedResource, number>;
}

export function reportedOn(stored: KubeObject | undefined): ReportedState {
  const { metadata, status } = stored ?? { metadata: {}, status: undefined };
  const synced = ownMember(status, 'synced');
  const isCurrent = ownMember(status, 'observedGeneration') === metadata['generation'];
  const all = ownMember(status, 'conditions');
  const conditions: readonly unknown[] = Array.isArray(all) && isCurrent ? all : [];
  const has = (wanted: Readonly<Record<string, string>>): boolean =>
    conditions.some((each) => Object.entries(wanted).every(([key, value]) => ownMember(each, key) === value));
  return {
    isCurrent,
    hasNoCopies: has({ type: 'SourceAvailable', status: 'False' }) && ownMember(status, 'synced') === 0,
    holdsDeletions: has({ type: 'Stalled', status: 'True', reason: 'TooManyDeletions' }),
    deletions: deletionRecordOf(status),
    existing: isCurrent ? existingIn(status) : undefined,
    synced: typeof synced === 'number' ? synced : 0,
    isStored: stored !== undefined,
    lacksFinalizer: stored !== undefined && !finalizersOf(metadata).includes(cleanupFinalizer),
    violations: new Map(isCurrent ? violationsIn(status) : []),
  };
}

function finalizersOf({ finalizers }: KubeObject['metadata']): readonly unknown[] {
  return Array.isArray(finalizers) ? finalizers : [];
}

function existingIn(status: unknown): number | undefined {
  const [desired, synced] = [ownMember(status, 'desired'), ownMember(status, 'synced')];
  return typeof synced === 'number' && synced === desired ? synced : undefined;
}

const auditedFields = [
  ['roleBindings', 'rolebindings'],
  ['roles', 'roles'],
  ['secrets', 'secrets'],
] as const;

function violationsIn(status: unknown): readonly (readonly [AuditedResource, number])[] {
  const counts = ownMember(status, 'violationsByResource');
  return auditedFields.flatMap(([field, resource]) => {
    const count = ownMember(counts, field);
    return typeof count === 'number' && count > 0 ? [[resource, count] as const] : [];
  });
}

/** Returns `up to` unless the status shows that all these objects exist, because the webhook sees no objects. */
export function upTo({ reported: { existing } }: ProviderWrite, count: number): string {
  return existing !== undefined && count <= existing ? '' : 'up to ';
}

/**
 * True for a deletion without the finalizer. The provider is then deleted at once, and Reeve releases the objects of an unknown
 * provider.
 */
export function leavesObjects(write: ProviderWrite): boolean {
  return write.after === undefined && write.reported.lacksFinalizer && fateOf(write) === 'deleted';
}

/** The fate of objects that are no longer wanted. `kept`: they stay until the provider is resumed. */
type Fate = 'deleted' | 'released' | 'kept';

export function fateOf({ before, after }: ProviderWrite): Fate {
  if (after !== undefined) {
    const { suspend, deletionPolicy } = after.object.spec;
    if (suspend) return 'kept';
    return deletionPolicy === 'Orphan' ? 'released' : 'deleted';
  }
  const spec = before?.object.spec;
  return spec?.suspend === true || spec?.deletionPolicy === 'Orphan' ? 'released' : 'deleted';
}

/** Returns the Namespaces that a provider can match. A tenant's binding can match only its own. */
export function reachableBy(id: ProviderId, snapshot: ClusterSnapshot): readonly KubeObject[] {
  const name = namespaceOfProvider(id);
  if (name === undefined) return [...snapshot.namespaces()];
  const namespaceObject = snapshot.namespace(name);
  return namespaceObject === undefined ? [] : [namespaceObject];
}

/** Returns the Namespaces of `reachableBy` that the install does not exclude. */
export function managedBy(id: ProviderId, snapshot: ClusterSnapshot): readonly KubeObject[] {
  return reachableBy(id, snapshot).filter((namespaceObject) => isManaged(namespaceObject, snapshot));
}

/** All expressions of a policy may read them. */
export function variablesOf(definition: ProviderDefinition | undefined): unknown {
  return policyIn(definition)?.object.spec.variables;
}

/** Namespaces get no content that an exception names. */
export function contentExceptionsOf(definition: ProviderDefinition | undefined): unknown {
  return (policyIn(definition)?.object.spec.exceptions ?? []).filter(
    ({ contents }) => contents !== undefined,
  );
}

/** Returns the parts of a definition that decide which objects it provides. */
export function providedBy(definition: ProviderDefinition | undefined): unknown {
  switch (definition?.kind) {
    case 'NamespacePolicy':
      return [
        definition.object.spec.contents,
        contentExceptionsOf(definition),
        variablesOf(definition),
        definition.intents?.onlyIn ?? [],
      ];
    case 'SecretShare':
    case 'ConfigMapShare':
      return [definition.compiled.sources, definition.compiled.copy];
    case undefined:
      return undefined;
    default:
      return definition satisfies never;
  }
}

/** True if both versions are the same in one part. */
export function hasSame(
  { before, after }: ProviderWrite,
  part: (version: ProviderDefinition | undefined) => unknown,
): boolean {
  return isDeepStrictEqual(part(before), part(after));
}

/** Adds up objects that one sentence can describe, with all their names and namespaces. */
export class ObjectGroups<T extends object> {
  readonly #groups = new Map<string, T & { names: Set<string>; namespaces: Set<string> }>();

  get all() {
    return [...this.#groups.values()];
  }

  add(about: T, name: string, namespace: string): void {
    const key = JSON.stringify(about);
    const group = this.#groups.get(key) ?? { ...about, names: new Set(), namespaces: new Set() };
    this.#groups.set(key, group);
    group.names.add(name);
    group.namespaces.add(namespace);
  }
}

/** Returns how many objects a provider can have in one namespace. */
export function objectsPerNamespace(definition: ProviderDefinition | undefined): number {
  if (definition === undefined) return 0;
  const contents = policyIn(definition)?.compiled.contents;
  return contents?.filter(({ contentKind }) => contentKind.ownership === 'object').length ?? 1;
}

/** Returns the namespaces that count for the quota of a policy. */
export function quotaMembers(
  { label }: QuotaSpec,
  { id, match }: Pick<CompiledPolicy, 'id' | 'match'>,
  snapshot: ClusterSnapshot,
): readonly QuotaMember[] {
  return managedBy(id, snapshot)
    .filter((namespace) => matchNamespace(match, namespace).kind === 'yes')
    .map((namespace) => [nameOf(namespace), valueOf(labelsOf(namespace), label)]);
}

// Loads the two versions of a write. A binding is also loaded as if the API server served the kinds of all adapters.

/** The older and the newer version of an object, or of the context of its compilation. */
interface Versions<T> {
  readonly before: T;
  readonly after: T;
}

interface LoadedVersions extends Pick<ProviderWrite, 'before' | 'after' | 'allServed'> {
  /** The problems of the newer version. */
  readonly problems: readonly Problem[];
}

/** The contexts in which the two versions of a binding are compiled. */
export interface WriteContexts {
  readonly now: Versions<IntentContext>;
  /** Undefined if the API server serves the kinds of all adapters. */
  readonly allServed: Versions<IntentContext> | undefined;
}

export function writeContexts(before: IntentContext, after = before): WriteContexts {
  const allBefore = withAllServed(before);
  const allAfter = after === before ? allBefore : withAllServed(after);
  const isSame = allBefore === before && allAfter === after;
  return { now: { before, after }, allServed: isSame ? undefined : { before: allBefore, after: allAfter } };
}

export function versionsOf(
  kind: ProviderKind,
  objects: Versions<KubeObject | undefined>,
  contexts: WriteContexts,
): LoadedVersions {
  const now = loaded(kind, objects, contexts.now);
  if (contexts.allServed === undefined || !isBindingKind(kind)) return now;
  const { problems, ...allServed } = loaded(kind, objects, contexts.allServed);
  return { ...now, allServed, problems: now.problems.length > 0 ? now.problems : problems };
}

/** Decides whether two contexts compile a binding to the same result. Most bindings look alike, so each form is remembered. */
export class BindingForms {
  readonly #isSame = new FormCache();
  readonly #contexts: WriteContexts;

  constructor(contexts: WriteContexts) {
    this.#contexts = contexts;
  }

  isSame({ kind, object }: StoredBinding): boolean {
    const { spec } = object;
    const form = JSON.stringify([kind, ownMember(spec, 'intents'), ownMember(spec, 'workloads')]);
    return this.#isSame.of(form, () => {
      const versions = versionsOf(kind, { before: object, after: object }, this.#contexts);
      const { allServed, problems } = versions;
      return (
        problems.length === 0 &&
        isDeepStrictEqual(meaningOf(versions.before), meaningOf(versions.after)) &&
        isDeepStrictEqual(meaningOf(allServed?.before), meaningOf(allServed?.after))
      );
    });
  }
}

function meaningOf(definition: ProviderDefinition | undefined): unknown {
  if (definition?.intents === undefined) return undefined;
  const { sourceOf: _sourceOf, ...facts } = definition.intents;
  return [definition.object.spec, facts];
}

function loaded(
  kind: ProviderKind,
  objects: Versions<KubeObject | undefined>,
  contexts: Versions<IntentContext>,
): LoadedVersions {
  const [before, after] = (['before', 'after'] as const).map((version) => {
    const object = objects[version];
    return object === undefined ? undefined : loadSubmitted(kind, object, contexts[version]);
  });
  return {
    before: definitionIn(before),
    after: definitionIn(after),
    problems: after?.ok === false ? after.problems : [],
  };
}

function definitionIn(load: ProviderLoad | undefined): ProviderDefinition | undefined {
  return load?.ok === true ? load.value : undefined;
}
