// Reads and compiles one policy or share, wherever it comes from: whole, or all that is wrong with it.
import { ownMember } from '../../api/json.ts';
import type { KubeObject } from '../../api/kube-object.ts';
import { apiVersion } from '../../api/names.ts';
import { parseNamespacePolicy, type NamespacePolicy } from '../../api/namespace-policy.ts';
import type { Problem } from '../../api/problem.ts';
import { parseSecretShare, type SecretShare } from '../../api/secret-share.ts';
import { compilePolicy } from '../compile-policy.ts';
import { compileShare } from '../compile-share.ts';
import type { CompiledPolicy } from '../compiled-policy.ts';
import type { CompiledShare } from '../compiled-share.ts';
import { ownerKinds, type OwnerKind } from '../owner.ts';

/** A policy or share as it is written, and what was made of it. */
export type OwnerDefinition =
  | {
      readonly kind: 'NamespacePolicy';
      readonly object: NamespacePolicy;
      readonly compiled: CompiledPolicy;
    }
  | { readonly kind: 'SecretShare'; readonly object: SecretShare; readonly compiled: CompiledShare };

export type OwnerLoad =
  | { readonly ok: true; readonly definition: OwnerDefinition }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Undefined for what is no kind of ours, whatever its apiVersion. */
export function ownerKindOf(value: unknown): OwnerKind | undefined {
  const kind = ownMember(value, 'kind');
  return ownerKinds.find((each) => each === kind);
}

export function loadOwner(kind: OwnerKind, value: unknown): OwnerLoad {
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
export function loadSubmitted(kind: OwnerKind, { metadata, spec }: KubeObject): OwnerLoad {
  return loadOwner(kind, { apiVersion, kind, metadata: { name: metadata.name }, spec });
}

function loadPolicy(value: unknown): OwnerLoad {
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

function loadShare(value: unknown): OwnerLoad {
  const parsed = parseSecretShare(value);
  if (!parsed.ok) return parsed;
  const { share } = parsed;
  const compilation = compileShare(share);
  if (!compilation.ok) return compilation;
  return { ok: true, definition: { kind: 'SecretShare', object: share, compiled: compilation.compiled } };
}
