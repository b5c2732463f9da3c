// Declares what this room needs from the rest of the program; `app` satisfies these ports.
import type { JsonObject } from '../base/json.ts';
import type { KubeError } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/metadata.ts';
import type { Difference } from './configuration-drift.ts';

interface CallOptions {
  readonly signal: AbortSignal;
}

/** Each method rejects with a KubeError, or with the reason of the signal. */
export interface ObjectStore {
  /** Undefined when the object is missing. */
  read(ref: ObjectRef, options: CallOptions): Promise<KubeObject | undefined>;
  /** Server-side apply: creates the object. RBAC can limit it to a name, unlike a POST. */
  apply(object: KubeObject, options: CallOptions & { readonly force: true }): Promise<KubeObject>;
  /** `metadata.resourceVersion` of the patch is a precondition. */
  mergePatch(ref: ObjectRef, patch: JsonObject, options: CallOptions): Promise<KubeObject>;
}

/** Supplies the authorities that API servers verify the webhook's certificate with. */
export interface CaBundle {
  /** In PEM. Undefined: another program writes the bundle. Rejects with a KubeError while the bundle is unknown. */
  wanted(signal: AbortSignal): Promise<string | undefined>;
  /** Both configurations were read back from the API server, and each of their webhooks carries exactly this bundle. */
  confirmed(bundle: string): void;
  /** A webhook carried another bundle. */
  doubted(): void;
  /** Calls the listener whenever the wanted bundle may have changed. Returns a function that ends this. */
  subscribe(listener: () => void): () => void;
}

/** For log and metrics. Each problem is reported once, and again only after it has cleared or changed. */
export interface RegistrationObserver {
  applied(kind: string): void;
  /** Others had changed the configuration, and Reeve has repaired it. */
  repaired(kind: string, differences: readonly Difference[]): void;
  /** The API server refused a round; it is tried again soon. */
  notApplied(error: KubeError): void;
  /** The ClusterRole of the install is missing, so no configuration is written. */
  roleMissing(name: string): void;
  /** A newer version of the program wrote this configuration. */
  leftToNewer(kind: string, version: string): void;
  /** These webhooks have no bundle, so they ignore errors until another program writes one. */
  bundleMissing(kind: string, webhooks: readonly string[]): void;
}
