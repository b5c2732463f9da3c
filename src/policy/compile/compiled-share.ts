// A share ready to use: which namespaces get a copy, of which Secret, and what the copy looks like.
import type { CompiledMatch } from '../terms/match.ts';

export interface CompiledShare {
  readonly name: string;
  readonly match: CompiledMatch;
  readonly source: { readonly namespace: string; readonly name: string };
  readonly copy: CopySpec;
  readonly isSuspended: boolean;
}

export interface CopySpec {
  readonly name: string;
  /** Empty: that of the source. */
  readonly type: string;
  /** Undefined: all keys, by their own names. */
  readonly keys: readonly { readonly from: string; readonly to: string }[] | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly isImmutable: boolean;
}
