// Declares the ports of this room: the current serving pair, and the bundle that API servers verify it with.
import type { ServingPair } from './files/serving-pair.ts';

export interface PairSource {
  readonly pair: ServingPair;
  readonly bundle: CaBundle;
  /** Hands over every later pair. */
  watch(apply: (pair: ServingPair) => void): void;
  close(): Promise<void>;
}

/** Supplies the authorities that API servers verify the webhook's certificate with. */
export interface CaBundle {
  /** In PEM. Undefined: another program writes the bundle. Rejects with a KubeError while the bundle is unknown. */
  wanted(signal: AbortSignal): Promise<string | undefined>;
  /** Both configurations were read back from the API server, and each of their webhooks carries exactly this bundle. */
  confirmed(bundle: string): void;
  /** A webhook carried another bundle. API servers that learned that one must learn the wanted one again. */
  doubted(): void;
  /** Calls the listener whenever the wanted bundle may have changed. Returns a function that ends this. */
  subscribe(listener: () => void): () => void;
}
