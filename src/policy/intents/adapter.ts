// Says what an adapter is: which intents a security engine can keep, and what Reeve provides for them.
import type { LabelSelector } from '../../schema/selector.ts';
import type { ContentsSpec, NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import type { SecurityIntentSpec } from '../../api/intents/security-intent.ts';
import type { Install } from '../terms/install.ts';
import type { ObjectType } from '../../base/object-type.ts';

/** An intent that can be rendered: its id is known, and its params are those of the id. */
export interface Intent extends SecurityIntentSpec {
  readonly name: string;
}

/** Where the intent must hold. */
export interface Target {
  /** The Pods. Undefined: all Pods of the namespace. Never empty. */
  readonly workloads: LabelSelector | undefined;
  /** True for a binding of many namespaces. */
  readonly isClusterWide: boolean;
  readonly settings: AdapterSettings;
}

/** What the installation says to the adapters. */
export type AdapterSettings = Pick<Install, 'tlsScanImage' | 'resourceKinds'>;

/** Parts of a NamespacePolicy. Texts are literal: what the engine reads as a template is escaped later. */
export interface Rendering {
  readonly resources?: NonNullable<ContentsSpec['resources']>;
  readonly serviceAccounts?: NonNullable<ContentsSpec['serviceAccounts']>;
  readonly namespaces?: Pick<NonNullable<NamespacePolicySpec['namespaces']>, 'defaults' | 'required'>;
  /** The only namespace that gets the contents. Undefined: each matched one. */
  readonly onlyIn?: string;
}

/**
 * `false`: the id belongs to other adapters. A text: the id is one of this adapter, but it cannot keep this intent there; the
 * text says why, in a sentence without a period.
 */
export type Support = boolean | string;

export interface IntentAdapter {
  readonly id: string;
  /** The kinds that the API server must serve. */
  readonly needs: readonly ObjectType[];
  /** What else the installation must have: a sentence about what is missing, or undefined. */
  readonly lacks?: (settings: AdapterSettings) => string | undefined;
  /** The kinds that it can render, for the rights of Reeve's account. */
  readonly provides: readonly ObjectType[];
  supports(intent: Intent, workloads: LabelSelector | undefined): Support;
  /** Asked only for what it supports. The same intent and target give the same objects, whatever the binding is called. */
  render(intent: Intent, target: Target): Rendering;
}
