// Writes single objects. Preconditions limit each write to the object of the plan.
import { KubeError } from '../../base/kube-error.ts';
import { type JsonObject, isJsonObject } from '../../base/json.ts';
import { type KubeObject, type ObjectRef, annotationsOf, valueOf } from '../../base/metadata.ts';
import {
  appliedAnnotation,
  keptFieldManager,
  managedByLabel,
  managedByReeve,
  ownerAnnotation,
} from '../../schema/names.ts';
import { grantsAccess, observeObject, type Observed } from '../../policy/plan/observed.ts';
import type { ObservedAccount } from '../../policy/plan/account.ts';
import type { AccountStep } from '../../policy/plan/plan-account.ts';
import type { Surplus, WriteStep } from '../../policy/plan/plan-claim.ts';
import { isDeepStrictEqual } from 'node:util';
import { keptMetadata, type KeptMetadata } from '../../policy/plan/remainder.ts';
import { serviceAccountType } from '../../base/object-type.ts';
import type { Clock } from '../../base/clock.ts';
import { giveBack } from './give-back.ts';
import type { ReconcileContext } from '../ports.ts';
import type { ObjectWriter } from '../../base/object-writer.ts';
import { createHash } from 'node:crypto';

// Limits how much work runs at once. Further work waits for its turn.

export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

// Remembers the objects that differ but need no write, as a dry run has shown.

/** Beyond this number, all entries are dropped, and dry runs find them again. */
const maxEntries = 50_000;

export class DryRuns {
  /** The hash of the desired and the live object, by UID. */
  readonly #known = new Map<string, string>();

  isKnown(wanted: KubeObject, live: KubeObject): boolean {
    return this.#known.get(uidOf(live)) === fingerprint(wanted, live);
  }

  remember(wanted: KubeObject, live: KubeObject): void {
    if (this.#known.size >= maxEntries) this.#known.clear();
    this.#known.set(uidOf(live), fingerprint(wanted, live));
  }
}

function uidOf({ metadata: { uid = '' } }: KubeObject): string {
  return uid;
}

function fingerprint(wanted: KubeObject, live: KubeObject): string {
  const annotations = annotationsOf(wanted);
  const parts = [
    valueOf(annotations, appliedAnnotation),
    valueOf(annotations, ownerAnnotation),
    comparable(live),
  ];
  return createHash('sha256').update(JSON.stringify(parts, sortedKeys)).digest('base64');
}

/** Sorts keys, because an answer and a watch event can hold the same fields in another order. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the object without the counters of the API server, and without the status, which other controllers write. */
function comparable(object: KubeObject): KubeObject {
  const { status: _status, ...rest } = object;
  const {
    managedFields: _fields,
    resourceVersion: _version,
    generation: _count,
    ...metadata
  } = object.metadata;
  return { ...rest, metadata };
}

/**
 * The resourceVersion of an apply to an object that must not exist yet. No object ever has this version, so an existing object
 * is a conflict (seen on 1.36, for Secrets, RoleBindings and custom resources).
 */
const mustNotExist = '1';

/** Shorter than the rest of a Lease when its holder stops leading. */
const replaceGraceMs = 3000;
/** A small number, so that no creation waits long behind the requests of other namespaces. */
const replacedAtOnce = 2;

export class ObjectWrites {
  readonly #writer: ObjectWriter;
  readonly #dryRuns = new DryRuns();
  readonly #turns = new Turns(replacedAtOnce);
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;

  constructor({ writer, clock }: ReconcileContext) {
    this.#writer = writer;
    this.#clock = clock;
  }

  async create({ object }: WriteStep, signal: AbortSignal): Promise<Observed> {
    return await this.#apply(object, { resourceVersion: mustNotExist }, signal);
  }

  /** Removes surplus fields by a patch, because an apply leaves the fields of others alone. */
  async update(
    { claim, object, surplus }: WriteStep,
    live: Observed,
    signal: AbortSignal,
  ): Promise<Observed> {
    const { uid, resourceVersion } = live;
    const { fields, data, binaryData, labels, annotations } = surplus;
    const keys = [...Object.keys(fields), ...data, ...binaryData, ...labels, ...annotations];
    if (keys.length === 0) return await this.#apply(object, { uid, resourceVersion }, signal);
    if (claim.content.kind === 'object') {
      const patch = takeOverPatch(object, surplus, resourceVersion);
      const { metadata } = await this.#writer.mergePatch(refOf(live), patch, { signal });
      return await this.#apply(object, { uid, resourceVersion: metadata.resourceVersion }, signal);
    }
    // A single patch keeps readers from seeing a copy between two states.
    const patch = removeSurplusPatch(object, surplus, resourceVersion);
    return observed(live, await this.#writer.mergePatch(refOf(live), patch, { signal }));
  }

  /** Preconditions limit each apply to the account of the plan, and keep the apply from creating an account. */
  async setFields(
    step: AccountStep,
    wrote: (object: KubeObject, manager: string) => ObservedAccount,
    signal: AbortSignal,
  ): Promise<void> {
    const apply = async (object: KubeObject, manager: string): Promise<ObservedAccount> =>
      wrote(await this.#writer.apply(object, { force: true, manager, signal }), manager);
    await applyFields(step, apply);
  }

  /** Returns undefined when a dry run shows that no write is needed. */
  async updateIfNeeded(
    { object }: WriteStep,
    live: Observed,
    signal: AbortSignal,
  ): Promise<Observed | undefined> {
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

  /**
   * Deletes and creates an object that cannot be changed, with no other request in between. Returns the longest time for which
   * the object was missing. A shutdown in between waits for the second request. Nothing is deleted if the API server would
   * refuse the second request, for example because Reeve may not grant the new role.
   */
  async replace(
    step: WriteStep,
    live: Observed,
    signal: AbortSignal,
    removed: () => void,
  ): Promise<{ readonly observed: Observed; readonly missingMs: number }> {
    const kept = keptMetadata(step.object.metadata, live);
    await this.#rehearse(step, signal);
    const work = async (late: AbortSignal) => {
      const since = this.#clock.monotonic();
      await this.remove(live, late);
      removed();
      const created = await this.create(kept === undefined ? step : withKept(step, kept), late);
      const missingMs = this.#clock.monotonic() - since;
      return { observed: kept === undefined ? created : await this.#own(kept, created, late), missingMs };
    };
    return await this.#turns.take(() => withGrace(signal, replaceGraceMs, this.#clock, work));
  }

  /** Gives the metadata a field manager of their own, so that neither the next apply nor a release removes them. */
  async #own(kept: KeptMetadata, { type, namespace, name, uid }: Observed, signal: AbortSignal) {
    const object = { ...type, metadata: { namespace, name, uid, ...kept } };
    return observed(
      { type },
      await this.#writer.apply(object, { force: true, manager: keptFieldManager, signal }),
    );
  }

  /** Creates the object under another name in a dry run, because the old object still has the name. */
  async #rehearse({ object }: WriteStep, signal: AbortSignal): Promise<void> {
    // An install can limit Secrets to exact names, so a refusal of another name proves nothing.
    if (object.kind === 'Secret') return;
    const metadata = { ...object.metadata, name: `${object.metadata.name ?? ''}.rehearsal` };
    try {
      await this.#writer.apply({ ...object, metadata }, { force: true, dryRun: true, signal });
    } catch (error) {
      // The deletion makes room in a full quota. A stranger's webhook with side effects refuses every dry run:
      // https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#side-effects
      const isRoomMade = error instanceof KubeError && error.refusal?.by === 'quota';
      if (!(error instanceof KubeError) || (error.code !== 400 && !isRoomMade)) throw error;
    }
  }

  /** An object that no longer exists counts as removed. */
  async remove(live: Observed, signal: AbortSignal): Promise<void> {
    const { uid } = live;
    const resourceVersion = await this.#withdraw(live, signal);
    await this.#writer.remove(refOf(live), { uid, resourceVersion }, signal);
  }

  /** Removes the subjects first. A RoleBinding grants until its last finalizer is removed, and others can add one. */
  async #withdraw(live: Observed, signal: AbortSignal): Promise<string> {
    const { resourceVersion } = live;
    if (!live.isHeld || !grantsAccess(live)) return resourceVersion;
    const patch = { metadata: { resourceVersion }, subjects: null };
    const { metadata } = await this.#writer.mergePatch(refOf(live), patch, { signal });
    return typeof metadata['resourceVersion'] === 'string' ? metadata['resourceVersion'] : resourceVersion;
  }

  /** Keeps the object, and changes nothing but its labels and annotations. */
  async release(live: Observed, marks: JsonObject, signal: AbortSignal): Promise<Observed> {
    const metadata = { resourceVersion: live.resourceVersion, ...marks };
    return observed(live, await this.#writer.mergePatch(refOf(live), { metadata }, { signal }));
  }

  /** Returns undefined when the object does not exist any more. */
  async giveBack(live: Observed, signal: AbortSignal) {
    const given = await giveBack(this.#writer, live, signal);
    return given === undefined ? undefined : { ...given, observed: observed(live, given.object) };
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

/** Carries out the applies one after the other. `apply` sends an apply and returns the resulting account. */
export async function applyFields(
  { live, applies }: AccountStep,
  apply: (object: KubeObject, manager: string) => Promise<ObservedAccount>,
): Promise<void> {
  const { namespace, name, uid } = live;
  let now = live;
  for (const { manager, fields, annotations } of applies) {
    if (Object.keys(fields).length === 0 && !now.managers.includes(manager)) continue;
    const place = { namespace, name, uid, resourceVersion: now.resourceVersion };
    const metadata = annotations === undefined ? place : { ...place, annotations };
    now = await apply({ ...serviceAccountType, metadata, ...fields }, manager);
  }
}

function withKept(step: WriteStep, { labels, annotations }: KeptMetadata): WriteStep {
  const { metadata } = step.object;
  const all = {
    ...metadata,
    labels: { ...labels, ...metadata.labels },
    annotations: { ...annotations, ...metadata.annotations },
  };
  return { ...step, object: { ...step.object, metadata: all } };
}

function observed({ type }: Pick<Observed, 'type'>, object: KubeObject): Observed {
  return observeObject(type, object);
}

export function refOf({ type, namespace, name }: Pick<Observed, 'type' | 'namespace' | 'name'>): ObjectRef {
  return { ...type, namespace, name };
}

function withPreconditions(object: KubeObject, preconditions: JsonObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...preconditions } };
}

/** Removes the hash of the applied object until the next apply, so that an interrupted take-over is repeated. */
function takeOverPatch(object: KubeObject, surplus: Surplus, resourceVersion: string): JsonObject {
  const labels = withNulls({ [managedByLabel]: managedByReeve }, surplus.labels);
  const owner = { [ownerAnnotation]: annotationsOf(object)[ownerAnnotation] };
  const annotations = withNulls(owner, [appliedAnnotation, ...surplus.annotations]);
  return { ...surplus.fields, metadata: { resourceVersion, labels, annotations } };
}

function removeSurplusPatch(object: KubeObject, surplus: Surplus, resourceVersion: string): JsonObject {
  const labels = withNulls(object.metadata.labels, surplus.labels);
  const annotations = withNulls(object.metadata.annotations, surplus.annotations);
  const data = withNulls(object['data'], surplus.data);
  const binaryData = withNulls(object['binaryData'], surplus.binaryData);
  const binary = Object.keys(binaryData).length === 0 ? {} : { binaryData };
  const immutable = object['immutable'] === true ? { immutable: true } : {};
  return { metadata: { resourceVersion, labels, annotations }, data, ...binary, ...immutable };
}

/** Object.fromEntries makes every key an own member, `__proto__` too. */
function withNulls(map: unknown, keys: readonly string[]): JsonObject {
  const nulls = keys.map((key) => [key, null] as const);
  return Object.fromEntries([...Object.entries(map ?? {}), ...nulls]);
}

/**
 * Lets work that must not be left half done go on after the signal aborted. The signal of the work aborts `graceMs` later.
 * Rejects at once if the signal has already aborted, and otherwise as the work does.
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
