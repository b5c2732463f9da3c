// Carries out single writes of the objects that we provide, so that none can hit another object than the one planned for.
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject, ObjectRef } from '../../base/kube-object.ts';
import { appliedAnnotation, managedByLabel, managedByReeve, ownerAnnotation } from '../../api/names.ts';
import { observeObject, observeSecret, type Observed } from '../../policy/plan/observed.ts';
import type { Surplus, WriteStep } from '../../policy/plan/plan-claim.ts';
import { annotationsOf } from '../../base/metadata.ts';
import { isDeepStrictEqual } from 'node:util';
import { comparable, DryRuns } from './dry-runs.ts';
import type { Clock } from '../../base/clock.ts';
import type { ObjectWriter } from '../ports.ts';

/**
 * As the resourceVersion of an apply: the object must not exist yet. No object ever has this version, and an existing object
 * with another version is a conflict (seen on 1.36, for Secrets, RoleBindings and custom resources).
 */
const mustNotExist = '1';

/** Less than what is left of a Lease when its holder has stopped leading. */
const replaceGraceMs = 3000;

export class ObjectWrites {
  readonly #writer: ObjectWriter;
  readonly #dryRuns = new DryRuns();
  readonly #clock: Pick<Clock, 'sleep'>;

  constructor(writer: ObjectWriter, clock: Pick<Clock, 'sleep'>) {
    this.#writer = writer;
    this.#clock = clock;
  }

  async create({ object }: WriteStep, signal: AbortSignal): Promise<Observed> {
    return await this.#apply(object, { resourceVersion: mustNotExist }, signal);
  }

  /** Applying leaves alone what others have put there. */
  async update({ object, surplus }: WriteStep, live: Observed, signal: AbortSignal): Promise<Observed> {
    const { uid, resourceVersion } = live;
    if (Object.keys(surplus.fields).length > 0) {
      const patch = takenOver(object, surplus.fields, resourceVersion);
      const { metadata } = await this.#writer.mergePatch(refOf(live), patch, { signal });
      return await this.#apply(object, { uid, resourceVersion: metadata.resourceVersion }, signal);
    }
    const { data, labels, annotations } = surplus;
    if (data.length + labels.length + annotations.length === 0)
      return await this.#apply(object, { uid, resourceVersion }, signal);
    // One patch, so that nobody sees a Secret between two states.
    const patch = withoutSurplus(object, surplus, resourceVersion);
    return observed(live, await this.#writer.mergePatch(refOf(live), patch, { signal }));
  }

  /** Undefined: there is nothing to write. */
  async check({ object }: WriteStep, live: Observed, signal: AbortSignal): Promise<Observed | undefined> {
    if (live.content.kind !== 'object' || this.#dryRuns.isKnown(object, live.content.object))
      return undefined;
    const { uid, resourceVersion } = live;
    const applied = withPreconditions(object, { uid, resourceVersion });
    const result = await this.#writer.apply(applied, { force: true, dryRun: true, signal });
    if (!isDeepStrictEqual(comparable(result), comparable(live.content.object)))
      return await this.#apply(object, { uid, resourceVersion }, signal);
    this.#dryRuns.remember(object, live.content.object);
    return undefined;
  }

  /** Of what cannot be changed; the gap is as short as two requests one after the other, whoever is told to end then. */
  async replace(
    step: WriteStep,
    live: Observed,
    signal: AbortSignal,
    removed: () => void,
  ): Promise<Observed> {
    return await withGrace(signal, replaceGraceMs, this.#clock, async (late) => {
      await this.remove(live, late);
      removed();
      return await this.create(step, late);
    });
  }

  /** Done as well when it is gone already. */
  async remove(live: Observed, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = live;
    await this.#writer.remove(refOf(live), { uid, resourceVersion }, signal);
  }

  /** The object stays; what it carries of ours goes. */
  async release(live: Observed, signal: AbortSignal): Promise<Observed> {
    const { resourceVersion } = live;
    const patch = {
      metadata: {
        resourceVersion,
        labels: { [managedByLabel]: null },
        annotations: { [ownerAnnotation]: null, [appliedAnnotation]: null },
      },
    };
    return observed(live, await this.#writer.mergePatch(refOf(live), patch, { signal }));
  }

  async #apply(object: KubeObject, preconditions: JsonObject, signal: AbortSignal): Promise<Observed> {
    const result = await this.#writer.apply(withPreconditions(object, preconditions), {
      force: true,
      signal,
    });
    const { apiVersion = '', kind = '' } = object;
    const answer = observed({ type: { apiVersion, kind } }, result);
    if (answer.content.kind === 'object') this.#dryRuns.remember(object, answer.content.object);
    return answer;
  }
}

function observed({ type }: Pick<Observed, 'type'>, object: KubeObject): Observed {
  return type.kind === 'Secret' && type.apiVersion === 'v1'
    ? observeSecret(object)
    : observeObject(type, object);
}

export function refOf({ type, namespace, name }: Pick<Observed, 'type' | 'namespace' | 'name'>): ObjectRef {
  return { ...type, namespace, name };
}

function withPreconditions(object: KubeObject, preconditions: JsonObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...preconditions } };
}

/** With our marks, but for the one that says that all of it was applied: so this is done again when it is the last thing done. */
function takenOver(object: KubeObject, fields: JsonObject, resourceVersion: string): JsonObject {
  const labels = { [managedByLabel]: managedByReeve };
  const annotations = {
    [ownerAnnotation]: annotationsOf(object)[ownerAnnotation],
    [appliedAnnotation]: null,
  };
  return { ...fields, metadata: { resourceVersion, labels, annotations } };
}

function withoutSurplus(object: KubeObject, surplus: Surplus, resourceVersion: string): JsonObject {
  const labels = withNulls(object.metadata.labels, surplus.labels);
  const annotations = withNulls(object.metadata.annotations, surplus.annotations);
  const data = withNulls(object['data'], surplus.data);
  const immutable = object['immutable'] === true ? { immutable: true } : {};
  return { metadata: { resourceVersion, labels, annotations }, data, ...immutable };
}

/** Makes own members of all keys, `__proto__` too. */
function withNulls(map: unknown, keys: readonly string[]): JsonObject {
  const nulls = keys.map((key) => [key, null] as const);
  return Object.fromEntries([...Object.entries(map ?? {}), ...nulls]);
}

/**
 * Lets work that must not be left half done go on after the signal aborted: its own signal aborts `graceMs` later.
 * Rejects at once if the signal has aborted already, otherwise as the work does.
 */
async function withGrace<T>(
  signal: AbortSignal,
  graceMs: number,
  clock: Pick<Clock, 'sleep'>,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const late = new AbortController();
  const ended = new AbortController();
  const abortLater = (): void => {
    clock.sleep(graceMs, ended.signal).then(
      () => late.abort(),
      () => undefined,
    );
  };
  signal.addEventListener('abort', abortLater, { once: true, signal: ended.signal });
  try {
    return await work(late.signal);
  } finally {
    ended.abort();
  }
}
