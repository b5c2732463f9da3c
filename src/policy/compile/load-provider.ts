// Reads and compiles one policy or share from any source, or returns all of its problems.
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { apiVersion } from '../../api/names.ts';
import { parseNamespacePolicy, type NamespacePolicy } from '../../api/namespace-policy/namespace-policy.ts';
import { mapped, type CompileResult } from '../terms/compile-result.ts';
import { parseSecretShare, type SecretShare } from '../../api/secret-share/secret-share.ts';
import { compilePolicy, type CompiledPolicy } from './compile-policy.ts';
import { compileShare, type CompiledShare } from './compile-share.ts';

/** A policy or share as it is written, and its compiled form. */
export type ProviderDefinition =
  | {
      readonly kind: 'NamespacePolicy';
      readonly object: NamespacePolicy;
      readonly compiled: CompiledPolicy;
    }
  | { readonly kind: 'SecretShare'; readonly object: SecretShare; readonly compiled: CompiledShare };

/** A binding of intents has the form of a policy. */
export type ProviderForm = ProviderDefinition['kind'];
export const providerForms: readonly ProviderForm[] = ['NamespacePolicy', 'SecretShare'];

export type ProviderLoad = CompileResult<ProviderDefinition>;

/** Undefined for other kinds. The apiVersion is not checked here. */
export function providerKindOf(value: unknown): ProviderForm | undefined {
  const kind = ownMember(value, 'kind');
  return providerForms.find((each) => each === kind);
}

export function loadProvider(kind: ProviderForm, value: unknown): ProviderLoad {
  switch (kind) {
    case 'NamespacePolicy':
      return loadPolicy(value);
    case 'SecretShare':
      return loadShare(value);
    default:
      return kind satisfies never;
  }
}

/** Loads an object of the API server. Its metadata is ignored, because a later API server may accept more of it. */
export function loadSubmitted(kind: ProviderForm, { metadata, spec }: KubeObject): ProviderLoad {
  return loadProvider(kind, { apiVersion, kind, metadata: { name: metadata.name }, spec });
}

function loadPolicy(value: unknown): ProviderLoad {
  const parsed = parseNamespacePolicy(value);
  if (!parsed.ok) return parsed;
  const object = parsed.policy;
  return mapped(compilePolicy(object), (policy) => ({ kind: 'NamespacePolicy', object, compiled: policy }));
}

function loadShare(value: unknown): ProviderLoad {
  const parsed = parseSecretShare(value);
  if (!parsed.ok) return parsed;
  const object = parsed.share;
  return mapped(compileShare(object), (share) => ({ kind: 'SecretShare', object, compiled: share }));
}
