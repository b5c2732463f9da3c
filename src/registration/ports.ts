// Declares what this room needs from the rest of the program; `app` satisfies these ports.
import type { KubeError } from '../base/kube-error.ts';
import type { Difference } from './configuration-drift.ts';

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
  /** The named webhooks have no bundle, so the API server ignores their errors until another program writes a bundle. */
  bundleMissing(kind: string, webhooks: readonly string[]): void;
}
