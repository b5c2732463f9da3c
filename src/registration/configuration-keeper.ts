// Repairs the two webhook configurations of a cluster, and reports what others had changed.
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/metadata.ts';
import {
  differences,
  finalizerDifferences,
  type Difference,
  isSealBroken,
  isSealIntact,
  sealed,
} from './configuration-drift.ts';
import { versionAnnotation, type WebhookConfigurations, encodedBundle } from './wanted-configurations.ts';
import type { CaBundle, RegistrationObserver } from './ports.ts';
import type { ObjectStore } from '../base/object-writer.ts';
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';

export interface KeeperPorts {
  readonly store: ObjectStore;
  readonly bundle: CaBundle;
  readonly observer: RegistrationObserver;
  /** True once the Service leads to this process. Until then no configuration is created, because it would refuse requests. */
  readonly isReachable: () => boolean;
}

/** Called in each round. `caBundle` is in PEM, and undefined if another program writes it. */
type WantedConfigurations = (caBundle: string | undefined, ownerUid: string) => WebhookConfigurations;

/** The ClusterRole that owns the configurations: the garbage collector deletes them after the ClusterRole. */
export const ownerRole: ObjectRef = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  name: 'reeve-webhook',
};

interface Applied {
  readonly wanted: KubeObject;
  readonly resourceVersion: unknown;
}

/** Lives as long as this process leads. */
export class ConfigurationKeeper {
  readonly #ports: KeeperPorts;
  readonly #version: string;
  readonly #applied = new Map<string, Applied>();
  /** The last report on each subject that may stay wrong for long. */
  readonly #reports = new Map<string, string>();

  constructor(ports: KeeperPorts, version: string) {
    this.#ports = ports;
    this.#version = version;
  }

  /** Returns false when the round must be tried again. */
  async tryToKeep(wantedFor: WantedConfigurations, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#keepBoth(wantedFor, signal);
      this.#reports.delete('round');
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!(error instanceof KubeError)) throw error;
      const { code, reason } = error;
      // 409 means that another writer was faster. The next round judges its result.
      if (code !== 409)
        this.#reportOnce('round', [code, reason], () => this.#ports.observer.notApplied(error));
      return false;
    }
  }

  async #keepBoth(wantedFor: WantedConfigurations, signal: AbortSignal): Promise<void> {
    const { store, bundle, observer } = this.#ports;
    const role = await store.read(ownerRole, signal);
    const uid = role?.metadata.deletionTimestamp === undefined ? role?.metadata.uid : undefined;
    // A person deleted the role to remove Reeve, and the garbage collector deletes the configurations.
    if (uid === undefined) {
      const { name } = ownerRole;
      this.#reportOnce('role', name, () => observer.roleMissing(name));
      return;
    }
    this.#reports.delete('role');
    const caBundle = await bundle.wanted(signal);
    const { validating, mutating } = wantedFor(caBundle, uid);
    const stored: (KubeObject | undefined)[] = [];
    for (const wanted of [mutating, validating])
      stored.push(await this.#keep(wanted, caBundle !== undefined, signal));
    if (caBundle !== undefined && stored.every((each) => carriesBundle(each, caBundle)))
      bundle.confirmed(caBundle);
  }

  /** Returns the stored configuration as read back. */
  async #keep(made: KubeObject, isBundleOurs: boolean, signal: AbortSignal): Promise<KubeObject | undefined> {
    const live = await this.#ports.store.read(refOf(made), signal);
    if (live === undefined && !this.#ports.isReachable()) return undefined;
    if (live === undefined || !this.#isLeftAlone(refOf(made).kind, live))
      return await this.#bringAbout(made, live, isBundleOurs, signal);
    return isBundleOurs ? await this.#keepBundle(made, live, signal) : live;
  }

  async #bringAbout(
    made: KubeObject,
    live: KubeObject | undefined,
    isBundleOurs: boolean,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const { store, observer } = this.#ports;
    const ref = refOf(made);
    const { kind } = ref;
    const wanted = sealed(isBundleOurs ? made : withFoundBundles(made, live), isBundleOurs);
    this.#warnOfMissingBundles(kind, wanted);
    const applied = this.#applied.get(kind);
    const isUntouched = applied !== undefined && applied.resourceVersion === versionOf(live);
    // A later API server may add fields of its own. Writing again would not remove them.
    if (isUntouched && isDeepStrictEqual(applied.wanted, wanted)) return live;
    if (!isUntouched && differences(live, wanted).length === 0) {
      this.#applied.set(kind, { wanted, resourceVersion: versionOf(live) });
      return live;
    }
    const stored = await this.#store(wanted, live, signal);
    this.#applied.set(kind, { wanted, resourceVersion: versionOf(stored) });
    observer.applied(kind);
    if (!isUntouched) this.#alarm(kind, foundBy(applied, live, wanted, isBundleOurs));
    return await store.read(ref, signal);
  }

  /** Writes the bundle alone into what a newer version wrote: that version may no longer run. */
  async #keepBundle(made: KubeObject, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const wanted = sealed(withWantedBundle(live, made), true);
    if (isDeepStrictEqual(wanted['webhooks'], live['webhooks'])) return live;
    const { annotations, resourceVersion } = wanted.metadata;
    const patch = { metadata: { annotations, resourceVersion }, webhooks: wanted['webhooks'] };
    return await this.#ports.store.mergePatch(refOf(made), patch, { signal });
  }

  /**
   * Replaces the whole list: an apply would keep webhooks that others added. Without its finalizers, a configuration that
   * is being deleted is deleted at once, and the next round creates it again.
   */
  async #store(wanted: KubeObject, live: KubeObject | undefined, signal: AbortSignal): Promise<KubeObject> {
    const { store } = this.#ports;
    if (live === undefined) return await store.apply(wanted, { force: true, signal });
    const { labels, annotations, ownerReferences } = wanted.metadata;
    const { resourceVersion } = live.metadata;
    const patch = {
      metadata: { resourceVersion, labels, annotations, ownerReferences, finalizers: null },
      webhooks: wanted['webhooks'],
    };
    return await store.mergePatch(refOf(wanted), patch, { signal });
  }

  #alarm(kind: string, found: readonly Difference[]): void {
    if (found.length === 0) return;
    const { bundle, observer } = this.#ports;
    if (found.some(({ drift }) => drift !== 'metadata')) bundle.doubted();
    observer.repaired(kind, found);
  }

  #isLeftAlone(kind: string, live: KubeObject): boolean {
    const { [versionAnnotation]: version = '' } = live.metadata.annotations ?? {};
    // Without the seal, anybody could freeze the configuration with an annotation.
    const isLeft = isNewerProgram(version, this.#version) && isSealIntact(live);
    const subject = `version of ${kind}`;
    if (isLeft) this.#reportOnce(subject, version, () => this.#ports.observer.leftToNewer(kind, version));
    else this.#reports.delete(subject);
    return isLeft;
  }

  #warnOfMissingBundles(kind: string, wanted: KubeObject): void {
    const webhooks = webhooksWithoutBundle(wanted);
    const subject = `bundle of ${kind}`;
    if (webhooks.length === 0) this.#reports.delete(subject);
    else this.#reportOnce(subject, webhooks, () => this.#ports.observer.bundleMissing(kind, webhooks));
  }

  /** Reports a problem once, and again only after it has cleared or changed. */
  #reportOnce(subject: string, details: unknown, report: () => void): void {
    const text = JSON.stringify(details);
    if (this.#reports.get(subject) !== text) report();
    this.#reports.set(subject, text);
  }
}

/** Returns what others changed since Reeve last wrote it, in this process or in an earlier one. */
function foundBy(
  applied: Applied | undefined,
  live: KubeObject | undefined,
  wanted: KubeObject,
  isBundleOurs: boolean,
): readonly Difference[] {
  const isByEarlierRun = applied === undefined && (live === undefined || !isSealBroken(live));
  if (isByEarlierRun) return live === undefined ? [] : finalizerDifferences(live);
  const found = differences(live, applied?.wanted ?? wanted);
  return isBundleOurs ? found : found.filter(({ drift }) => drift !== 'ca-bundle');
}

function versionOf(object: KubeObject | undefined): unknown {
  return object?.metadata['resourceVersion'];
}

function refOf({ apiVersion = '', kind = '', metadata: { name = '' } }: KubeObject): ObjectRef {
  return { apiVersion, kind, name };
}

// Reads the bundles in a stored webhook configuration, and keeps bundles that another program wrote.

/** True when every webhook of the configuration carries this bundle. */
export function carriesBundle(stored: KubeObject | undefined, pem: string): boolean {
  const webhooks = webhooksOf(stored);
  const wanted = encodedBundle(pem);
  return webhooks.length > 0 && webhooks.every((webhook) => bundleOf(webhook) === wanted);
}

/**
 * Copies the stored bundles into the wanted configuration. Without a bundle no API server can call the webhook, so the
 * failure policy of such a webhook is Ignore.
 */
export function withFoundBundles(wanted: KubeObject, stored: KubeObject | undefined): KubeObject {
  const found = new Map(webhooksOf(stored).map((webhook) => [webhook['name'], bundleOf(webhook)]));
  const webhooks = webhooksOf(wanted).map((webhook) => withBundle(webhook, found.get(webhook['name'])));
  return { ...wanted, webhooks };
}

/** Returns the stored configuration with the wanted bundle in each webhook that leads to our Service. */
export function withWantedBundle(stored: KubeObject, wanted: KubeObject): KubeObject {
  const [ours] = webhooksOf(wanted);
  const bundle = ours === undefined ? undefined : bundleOf(ours);
  if (ours === undefined || bundle === undefined) return stored;
  const webhooks = webhooksOf(stored).map((webhook) =>
    isDeepStrictEqual(placeOf(webhook), placeOf(ours)) ? withBundle(webhook, bundle) : webhook,
  );
  return { ...stored, webhooks };
}

/** Returns the names of the webhooks without a bundle. */
export function webhooksWithoutBundle(configuration: KubeObject): readonly string[] {
  return webhooksOf(configuration)
    .filter((webhook) => bundleOf(webhook) === undefined)
    .map((webhook) => String(webhook['name']));
}

function withBundle(webhook: JsonObject, caBundle: string | undefined): JsonObject {
  const { clientConfig } = webhook;
  return caBundle === undefined
    ? { ...webhook, failurePolicy: 'Ignore' }
    : { ...webhook, clientConfig: { ...(isJsonObject(clientConfig) ? clientConfig : {}), caBundle } };
}

function webhooksOf(configuration: KubeObject | undefined): readonly JsonObject[] {
  const webhooks = configuration?.['webhooks'];
  return Array.isArray(webhooks) ? webhooks.filter(isJsonObject) : [];
}

/** Leaves out path and port: paths differ between webhooks, and ports between versions. */
function placeOf({ clientConfig }: JsonObject): unknown {
  const service = ownMember(clientConfig, 'service');
  return [ownMember(service, 'namespace'), ownMember(service, 'name')];
}

function bundleOf({ clientConfig }: JsonObject): string | undefined {
  const bundle = ownMember(clientConfig, 'caBundle');
  return typeof bundle === 'string' && bundle !== '' ? bundle : undefined;
}

// Compares versions of the program, so that an older version leaves the work of a newer one alone.

/** True when the annotation names a newer version. Text that is no version is older than every version. */
export function isNewerProgram(annotation: string | undefined, ours: string): boolean {
  const other = parseVersion(annotation ?? '');
  const own = parseVersion(ours);
  return other !== undefined && (own === undefined || compareVersions(other, own) > 0);
}

interface Version {
  readonly numbers: readonly number[];
  /** Empty in a release. */
  readonly prerelease: readonly string[];
}

/** https://semver.org/#is-there-a-suggested-regular-expression-regex-to-check-a-semver-string */
const versionPattern =
  /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

function parseVersion(text: string): Version | undefined {
  const match = versionPattern.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease] = match;
  return { numbers: [major, minor, patch].map(Number), prerelease: prerelease?.split('.') ?? [] };
}

/** https://semver.org/#spec-item-11 */
function compareVersions(a: Version, b: Version): number {
  const numbers = firstDifference(a.numbers, b.numbers, (one, other) => one - other);
  if (numbers !== 0) return numbers;
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return b.prerelease.length - a.prerelease.length;
  const identifiers = firstDifference(a.prerelease, b.prerelease, compareIdentifiers);
  return identifiers === 0 ? a.prerelease.length - b.prerelease.length : identifiers;
}

function firstDifference<T>(a: readonly T[], b: readonly T[], compare: (one: T, other: T) => number): number {
  for (const [index, one] of a.entries()) {
    const other = b[index];
    const difference = other === undefined ? 0 : compare(one, other);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
