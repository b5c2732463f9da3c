// Presents policies and shares as providers: the namespaces that they match, and the objects that they claim.
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { Budget } from '../terms/budget.ts';
import type { CompiledMatch } from '../terms/match.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { FieldsOnly, Rendered, WholeObject } from '../compile/compile-contents.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { CompiledShare } from '../compile/compile-share.ts';
import { type ObjectKey, type ObjectType, secretObjectType } from '../terms/object-key.ts';

export interface Provider {
  readonly id: ProviderId;
  readonly match: CompiledMatch;
  readonly isSuspended: boolean;
  render(namespaceObject: KubeObject, budget: Budget): readonly Rendered<ProvidedObject>[];
}

interface Provided<C> {
  readonly type: ObjectType;
  readonly name: string;
  readonly content: C;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** An object that a provider has for a namespace, or fields of one. */
export type ProvidedObject = Provided<ClaimContent> | Provided<FieldsOnly>;

interface Claimed<C> extends Provided<C> {
  readonly provider: ProviderId;
  readonly key: ObjectKey;
}

/** A request of a provider for an object in the namespace. Of several claims to an object one wins. */
export type Claim = Claimed<ClaimContent>;

/** A request for fields of a ServiceAccount that Reeve does not own. Several requests add up. */
export type FieldsClaim = Claimed<FieldsOnly>;

type ClaimContent = WholeObject | { readonly kind: 'copy'; readonly share: CompiledShare };

export function policyProvider(policy: CompiledPolicy): Provider {
  return {
    id: policy.id,
    match: policy.match,
    isSuspended: policy.isSuspended,
    render: (namespaceObject, budget) =>
      policy.contents.map((content) => {
        const rendered = content.render(namespaceObject, budget);
        if (rendered.kind !== 'present') return rendered;
        const { form, ...rest } = rendered.value;
        const place = { type: content.type, ...rest };
        return form.kind === 'object'
          ? { kind: 'present', value: { ...place, content: form } }
          : { kind: 'present', value: { ...place, content: form } };
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
