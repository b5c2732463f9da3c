// Presents policies and shares as providers: the namespaces that they match, and the objects that they claim.
import type { KubeObject } from '../../base/kube-object.ts';
import type { Budget } from '../terms/budget.ts';
import type { CompiledMatch } from '../terms/match.ts';
import { nameOf } from '../../base/metadata.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { Rendered } from '../compile/compile-contents.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { CompiledShare } from '../compile/compile-share.ts';
import type { JsonObject } from '../../base/json.ts';
import { type ObjectKey, type ObjectType, secretObjectType } from '../terms/object-key.ts';

export interface Provider {
  readonly id: ProviderId;
  readonly match: CompiledMatch;
  readonly isSuspended: boolean;
  render(namespaceObject: KubeObject, budget: Budget): readonly Rendered<ProvidedObject>[];
}

/** An object that a provider has for a namespace. */
export interface ProvidedObject {
  readonly type: ObjectType;
  readonly name: string;
  readonly content: ClaimContent;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** A request of a provider for an object in the namespace. Of several claims to an object one wins. */
export interface Claim extends ProvidedObject {
  readonly provider: ProviderId;
  readonly key: ObjectKey;
}

export type ClaimContent =
  | { readonly kind: 'object'; readonly body: JsonObject }
  | { readonly kind: 'copy'; readonly share: CompiledShare };

export function policyProvider(policy: CompiledPolicy): Provider {
  return {
    id: policy.id,
    match: policy.match,
    isSuspended: policy.isSuspended,
    render: (namespaceObject, budget) =>
      policy.contents.map((content) => {
        const rendered = content.render(namespaceObject, budget);
        if (rendered.kind !== 'present') return rendered;
        const { body, ...rest } = rendered.value;
        return { kind: 'present', value: { type: content.type, ...rest, content: { kind: 'object', body } } };
      }),
  };
}

const absent = { kind: 'absent' } as const;

/** The source Secret is never replaced by its own copy. */
function isSource({ source, copy }: CompiledShare, namespaceObject: KubeObject): boolean {
  return source.name === copy.name && source.namespace === nameOf(namespaceObject);
}

export function shareProvider(share: CompiledShare): Provider {
  const value: ProvidedObject = {
    type: secretObjectType,
    name: share.copy.name,
    content: { kind: 'copy', share },
  };
  return {
    id: share.id,
    match: share.match,
    isSuspended: share.isSuspended,
    render: (namespaceObject) => [isSource(share, namespaceObject) ? absent : { kind: 'present', value }],
  };
}
