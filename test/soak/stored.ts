// The fields that the soak reads of stored objects.

export type Texts = Readonly<Record<string, string>>;

export interface Stored {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly generation?: number;
    readonly labels?: Texts;
    readonly annotations?: Texts;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly unknown[];
    readonly deletionTimestamp?: string;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly data?: Texts;
  readonly type?: string;
  readonly immutable?: boolean;
  readonly roleRef?: unknown;
  readonly subjects?: unknown;
}

/** All stored objects that the oracle judges. */
export interface Inventory {
  readonly namespaces: readonly Stored[];
  readonly policies: readonly Stored[];
  readonly shares: readonly Stored[];
  readonly sources: readonly Stored[];
  /** RoleBindings, Secrets and ConfigMaps in the namespaces of the soak. */
  readonly found: readonly (Stored & { readonly kind: string })[];
}
