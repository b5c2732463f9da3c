// Reads and compiles one policy or share, wherever it comes from: whole, or all that is wrong with it.
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { apiVersion } from '../../api/names.ts';
import { parseNamespacePolicy, type NamespacePolicy } from '../../api/namespace-policy/namespace-policy.ts';
import type { Problem } from '../../base/problem.ts';
import { parseSecretShare, type SecretShare } from '../../api/secret-share/secret-share.ts';
import { compilePolicy } from './compile-policy.ts';
import { compileShare } from './compile-share.ts';
import type { CompiledPolicy } from './compiled-policy.ts';
import type { CompiledShare } from './compiled-share.ts';
import { providerKinds, type ProviderKind } from '../terms/provider-id.ts';

/** A policy or share as it is written, and what was made of it. */
export type ProviderDefinition =
  | {
      readonly kind: 'NamespacePolicy';
      readonly object: NamespacePolicy;
      readonly compiled: CompiledPolicy;
    }
  | { readonly kind: 'SecretShare'; readonly object: SecretShare; readonly compiled: CompiledShare };

export type ProviderLoad =
  | { readonly ok: true; readonly definition: ProviderDefinition }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Undefined for what is no kind of ours, whatever its apiVersion. */
export function providerKindOf(value: unknown): ProviderKind | undefined {
  const kind = ownMember(value, 'kind');
  return providerKinds.find((each) => each === kind);
}

export function loadProvider(kind: ProviderKind, value: unknown): ProviderLoad {
  switch (kind) {
    case 'NamespacePolicy':
      return loadPolicy(value);
    case 'SecretShare':
      return loadShare(value);
    default:
      return kind satisfies never;
  }
}

/** From the API server, which has judged the rest of the metadata, and may come to take more than we know of. */
export function loadSubmitted(kind: ProviderKind, { metadata, spec }: KubeObject): ProviderLoad {
  return loadProvider(kind, { apiVersion, kind, metadata: { name: metadata.name }, spec });
}

function loadPolicy(value: unknown): ProviderLoad {
  const parsed = parseNamespacePolicy(value);
  if (!parsed.ok) return parsed;
  const { policy } = parsed;
  const compilation = compilePolicy(policy);
  if (!compilation.ok) return compilation;
  return {
    ok: true,
    definition: { kind: 'NamespacePolicy', object: policy, compiled: compilation.compiled },
  };
}

function loadShare(value: unknown): ProviderLoad {
  const parsed = parseSecretShare(value);
  if (!parsed.ok) return parsed;
  const { share } = parsed;
  const compilation = compileShare(share);
  if (!compilation.ok) return compilation;
  return { ok: true, definition: { kind: 'SecretShare', object: share, compiled: compilation.compiled } };
}
