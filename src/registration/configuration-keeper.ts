// Repairs the two webhook configurations of a cluster, and reports what others had changed.
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/kube-object.ts';
import { differences, finalizerDifferences, type Difference } from './configuration-drift.ts';
import { isSealBroken, isSealIntact, sealed } from './configuration-seal.ts';
import { carriesBundle, webhooksWithoutBundle, withFoundBundles, withWantedBundle } from './found-bundles.ts';
import { isNewerProgram } from './program-version.ts';
import { versionAnnotation, type WebhookConfigurations } from './wanted-configurations.ts';
import type { CaBundle, ObjectStore, RegistrationObserver } from './ports.ts';

export interface KeeperPorts {
  readonly store: ObjectStore;
  readonly bundle: CaBundle;
  readonly observer: RegistrationObserver;
  /** True once the Service leads to this process. Until then no configuration is created, because it would refuse requests. */
  readonly isReachable: () => boolean;
}

/** Called in each round; `caBundle` is in PEM, undefined where another program writes it. */
export type WantedConfigurations = (caBundle: string | undefined, ownerUid: string) => WebhookConfigurations;

/** When this ClusterRole is deleted, the garbage collector deletes the configurations. */
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

  /** False when it has to be tried again. */
  async tryToKeep(wantedFor: WantedConfigurations, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#keepBoth(wantedFor, signal);
      this.#reports.delete('round');
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!(error instanceof KubeError)) throw error;
      const { code, reason } = error;
      // 409: another writer was faster. The next round judges what they wrote.
      if (code !== 409)
        this.#reportOnce('round', [code, reason], () => this.#ports.observer.notApplied(error));
      return false;
    }
  }

  async #keepBoth(wantedFor: WantedConfigurations, signal: AbortSignal): Promise<void> {
    const { store, bundle, observer } = this.#ports;
    const role = await store.read(ownerRole, { signal });
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
    const live = await this.#ports.store.read(refOf(made), { signal });
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
    return await store.read(ref, { signal });
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
