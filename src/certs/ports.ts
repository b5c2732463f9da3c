// Declares what this room needs from the rest of the program; `app` satisfies these ports.
import type { KubeError } from '../base/kube-error.ts';
import type { RecoveryCause, Step } from './authority/authority-steps.ts';
import type { ServingPair } from './files/serving-pair.ts';

/** Calls `onChange` whenever the Secret may have changed. The program is ready without this watch. */
export type SecretWatch = (namespace: string, name: string, onChange: () => void) => void;

/** For log and metrics. The observer sees dates, fingerprints and reasons, and must not use the key of a pair. */
export interface CertificateObserver {
  /** The webhook starts with this pair, which another program or this process made. */
  opened(pair: ServingPair): void;
  /** The files held a new pair, which is in use now. */
  reloaded(pair: ServingPair): void;
  /** A file holds something unusable; what it held before stays in use. */
  notReloaded(what: 'certificate' | 'certificate authority', problem: string): void;
  /** The shared authority signed a certificate, which is in use now. */
  issued(pair: ServingPair, isFirst: boolean): void;
  /** Another authority signs from now on. */
  signs(authority: { readonly fingerprint: string; readonly notAfter: Date }, isFirst: boolean): void;
  /** The Secret was written; with a cause, because its content was lost or unusable. */
  stepped(kind: Step['kind'], cause: RecoveryCause | undefined): void;
  /** API servers do not know any authority yet, so none may sign. */
  waiting(): void;
  /** The Secret could not be read or written. */
  notChecked(error: KubeError): void;
}

// Declares the ports of this room: the current serving pair, and the bundle that API servers verify it with.

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
