// Policies and shares as providers: which namespaces they match, and what each of those gets.
import type { KubeObject } from '../../base/kube-object.ts';
import type { Budget } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compiled-policy.ts';
import type { CompiledShare } from '../compile/compiled-share.ts';
import type { CompiledMatch } from '../terms/match.ts';
import { nameOf } from '../../base/metadata.ts';
import { providerId, type ProviderId } from '../terms/provider-id.ts';
import { secretObjectType } from '../compile/compile-contents.ts';
import type { Rendered } from '../compile/content-template.ts';
import type { ProvidedObject } from './claim.ts';

export interface Provider {
  readonly id: ProviderId;
  readonly match: CompiledMatch;
  readonly isSuspended: boolean;
  render(namespaceObject: KubeObject, budget: Budget): readonly Rendered<ProvidedObject>[];
}

export function policyProvider(policy: CompiledPolicy): Provider {
  return {
    id: providerId('NamespacePolicy', policy.name),
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

/** A source is never its own target. */
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
    id: providerId('SecretShare', share.name),
    match: share.match,
    isSuspended: share.isSuspended,
    render: (namespaceObject) => [isSource(share, namespaceObject) ? absent : { kind: 'present', value }],
  };
}
