// Which authorities API servers are to check the webhook by, as whoever keeps the webhook configurations is told.

export interface CaBundle {
  /**
   * In PEM. Undefined: what stands in the configurations is somebody else's to write, and is left alone. Rejects with a
   * KubeError while nobody can say.
   */
  wanted(signal: AbortSignal): Promise<string | undefined>;
  /** Both configurations have been read back from the API server, and every webhook of them carries exactly this. */
  confirmed(bundle: string): void;
  /** A webhook was found with another one: API servers that have learned of that have to learn of the wanted one anew. */
  doubted(): void;
  /** The listener is told whenever another one may be wanted. Returns how to end that. */
  subscribe(listener: () => void): () => void;
}
