// Brings the two webhook configurations of a cluster in order, and tells what others had done to them.
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/kube-object.ts';
import type { ObjectWriter } from '../kube/object-writer.ts';
import type { ConfigurationMetrics } from '../observe/configuration-metrics.ts';
import type { Log } from '../observe/log.ts';
import { differences, differenceText, finalizerDifferences, type Difference } from './configuration-drift.ts';
import { isSealBroken, isSealIntact, sealed } from './configuration-seal.ts';
import { carriesBundle, webhooksWithoutBundle, withFoundBundles, withWantedBundle } from './found-bundles.ts';
import { isNewer } from './program-version.ts';
import { versionAnnotation, type WebhookConfigurations } from './wanted-configurations.ts';
import type { CaBundle } from '../certs/authority/ca-bundle.ts';

export interface KeeperPorts {
  readonly writer: ObjectWriter;
  readonly bundle: CaBundle;
  readonly log: Log;
  readonly metrics: ConfigurationMetrics;
  /** Whether the Service leads here: until then, nothing is made by which somebody could be refused. */
  readonly isReachable: () => boolean;
}

/** Made anew each round; `caBundle` in PEM, undefined where others write it. */
export type WantedConfigurations = (caBundle: string | undefined, ownerUid: string) => WebhookConfigurations;

/** The ClusterRole with which the garbage collector removes the configurations. */
export const ownerRole: ObjectRef = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  name: 'reeve-webhook',
};

interface Applied {
  readonly wanted: KubeObject;
  readonly resourceVersion: unknown;
}

/** For as long as this process leads. */
export class ConfigurationKeeper {
  readonly #ports: KeeperPorts;
  readonly #version: string;
  readonly #applied = new Map<string, Applied>();
  /** What was said last of each thing that may stay wrong for long. */
  readonly #complaints = new Map<string, string>();

  constructor(ports: KeeperPorts, version: string) {
    this.#ports = ports;
    this.#version = version;
  }

  /** False when it has to be tried again. */
  async tryToKeep(wantedFor: WantedConfigurations, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#keepBoth(wantedFor, signal);
      this.#complain('round');
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!(error instanceof KubeError)) throw error;
      const { code, reason } = error;
      // Somebody was faster: what they wrote is looked at next.
      if (code !== 409) this.#complain('round', 'webhook configurations not applied', { code, reason });
      return false;
    }
  }

  async #keepBoth(wantedFor: WantedConfigurations, signal: AbortSignal): Promise<void> {
    const { writer, bundle } = this.#ports;
    const role = await writer.read(ownerRole, { signal });
    const uid = role?.metadata.deletionTimestamp === undefined ? role?.metadata.uid : undefined;
    // Who has removed it wants the configurations gone, and the garbage collector removes them.
    if (uid === undefined) {
      const { name } = ownerRole;
      this.#complain('role', 'webhook configurations not applied: the install lacks a ClusterRole', { name });
      return;
    }
    this.#complain('role');
    const caBundle = await bundle.wanted(signal);
    const { validating, mutating } = wantedFor(caBundle, uid);
    const stored: (KubeObject | undefined)[] = [];
    for (const wanted of [mutating, validating])
      stored.push(await this.#keep(wanted, caBundle !== undefined, signal));
    if (caBundle !== undefined && stored.every((each) => carriesBundle(each, caBundle)))
      bundle.confirmed(caBundle);
  }

  /** Returns what is stored in the end, as it was read. */
  async #keep(made: KubeObject, isBundleOurs: boolean, signal: AbortSignal): Promise<KubeObject | undefined> {
    const live = await this.#ports.writer.read(refOf(made), { signal });
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
    const { writer, log } = this.#ports;
    const ref = refOf(made);
    const { kind } = ref;
    const wanted = sealed(isBundleOurs ? made : withFoundBundles(made, live), isBundleOurs);
    this.#warnOfMissingBundles(kind, wanted);
    const applied = this.#applied.get(kind);
    const isUntouched = applied !== undefined && applied.resourceVersion === versionOf(live);
    // A later API server may add to what is written something that it would be no use to write against.
    if (isUntouched && isDeepStrictEqual(applied.wanted, wanted)) return live;
    if (!isUntouched && differences(live, wanted).length === 0) {
      this.#applied.set(kind, { wanted, resourceVersion: versionOf(live) });
      return live;
    }
    const stored = await this.#store(wanted, live, signal);
    this.#applied.set(kind, { wanted, resourceVersion: versionOf(stored) });
    log.info('webhook configuration applied', { kind });
    if (!isUntouched) this.#alarm(kind, foundBy(applied, live, wanted, isBundleOurs));
    return await writer.read(ref, { signal });
  }

  /** Of what a newer version has written: nobody else may be left who knows by which authorities we are served. */
  async #keepBundle(made: KubeObject, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const wanted = sealed(withWantedBundle(live, made), true);
    if (isDeepStrictEqual(wanted['webhooks'], live['webhooks'])) return live;
    const { annotations, resourceVersion } = wanted.metadata;
    const patch = { metadata: { annotations, resourceVersion }, webhooks: wanted['webhooks'] };
    return await this.#ports.writer.mergePatch(refOf(made), patch, { signal });
  }

  /**
   * Whole: unlike an apply, a patch also removes what others have added to the list, and leaves them their bundle. One that
   * is being deleted goes with its last finalizer, and is made anew in the next round.
   */
  async #store(wanted: KubeObject, live: KubeObject | undefined, signal: AbortSignal): Promise<KubeObject> {
    const { writer } = this.#ports;
    // By apply, the right to create can be limited to the name.
    if (live === undefined) return await writer.apply(wanted, { force: true, signal });
    const { labels, annotations, ownerReferences } = wanted.metadata;
    const { resourceVersion } = live.metadata;
    const patch = {
      metadata: { resourceVersion, labels, annotations, ownerReferences, finalizers: null },
      webhooks: wanted['webhooks'],
    };
    return await writer.mergePatch(refOf(wanted), patch, { signal });
  }

  #alarm(kind: string, found: readonly Difference[]): void {
    if (found.length === 0) return;
    const { bundle, log, metrics } = this.#ports;
    if (found.some(({ fault }) => fault !== 'metadata')) bundle.doubted();
    log.warn('webhook configuration was changed by others', { kind, found: found.map(differenceText) });
    for (const fault of new Set(found.map((each) => each.fault))) metrics.repaired(kind, fault);
  }

  #isLeftAlone(kind: string, live: KubeObject): boolean {
    const version = live.metadata.annotations?.[versionAnnotation];
    // Without the seal, anybody could have set it.
    const isLeft = isNewer(version, this.#version) && isSealIntact(live);
    if (!isLeft) this.#complain(`version of ${kind}`);
    else
      this.#complain(`version of ${kind}`, 'webhook configuration left to a newer version', {
        kind,
        version: version ?? '',
      });
    return isLeft;
  }

  #warnOfMissingBundles(kind: string, wanted: KubeObject): void {
    const webhooks = webhooksWithoutBundle(wanted);
    if (webhooks.length === 0) this.#complain(`bundle of ${kind}`);
    else
      this.#complain(
        `bundle of ${kind}`,
        'webhooks lack a caBundle, and refuse nothing until they have one',
        {
          kind,
          webhooks,
        },
      );
  }

  /** Says it once, until it is no more so or becomes another thing. */
  #complain(
    about: string,
    message = '',
    fields: Readonly<Record<string, string | number | readonly string[]>> = {},
  ): void {
    const said = JSON.stringify([message, fields]);
    if (message !== '' && this.#complaints.get(about) !== said) this.#ports.log.warn(message, fields);
    this.#complaints.set(about, said);
  }
}

/** What others have done: since we wrote it last or, where another process did, since that. */
function foundBy(
  applied: Applied | undefined,
  live: KubeObject | undefined,
  wanted: KubeObject,
  isBundleOurs: boolean,
): readonly Difference[] {
  const isByEarlierRun = applied === undefined && (live === undefined || !isSealBroken(live));
  if (isByEarlierRun) return live === undefined ? [] : finalizerDifferences(live);
  const found = differences(live, applied?.wanted ?? wanted);
  return isBundleOurs ? found : found.filter(({ fault }) => fault !== 'ca-bundle');
}

function versionOf(object: KubeObject | undefined): unknown {
  return object?.metadata['resourceVersion'];
}

function refOf({ apiVersion = '', kind = '', metadata: { name = '' } }: KubeObject): ObjectRef {
  return { apiVersion, kind, name };
}
