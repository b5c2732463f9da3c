// Loads the two versions of a write. For a binding also as if the API server served the kinds of all adapters.
import type { KubeObject } from '../../base/metadata.ts';
import type { Problem } from '../../base/problem.ts';
import { isDeepStrictEqual } from 'node:util';
import { ownMember } from '../../base/json.ts';
import type { StoredBinding } from '../compile/snapshot.ts';
import { loadSubmitted, type ProviderDefinition, type ProviderLoad } from '../compile/load-provider.ts';
import { FormCache } from '../intents/form-cache.ts';
import { withAllServed, type IntentContext } from '../intents/intent-context.ts';
import { isBindingKind, type ProviderKind } from '../terms/provider-id.ts';
import type { ProviderWrite } from './provider-write.ts';

/** Two versions of something: of the object, or of what it is compiled with. */
interface Versions<T> {
  readonly before: T;
  readonly after: T;
}

interface LoadedVersions extends Pick<ProviderWrite, 'before' | 'after' | 'allServed'> {
  /** The problems of the newer version. */
  readonly problems: readonly Problem[];
}

/** With what the two versions of a binding are compiled. */
export interface WriteContexts {
  readonly now: Versions<IntentContext>;
  /** Undefined where the API server serves the kinds of all adapters. */
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

/** Finds whether two contexts compile a binding to the same. Most bindings are written alike, so it remembers each form. */
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
  if (definition?.kind !== 'NamespacePolicy' || definition.intents === undefined) return undefined;
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
