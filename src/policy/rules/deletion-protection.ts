// namespaces.deletion: a namespace is deleted only after it has been annotated with its own name.
import { allowDeletionAnnotation } from '../../api/names.ts';
import { annotationsOf, isTerminating, keyPath, nameOf, valueOf } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { quoted } from '../terms/wording.ts';
import type { KubeObject, OwnerReference } from '../../base/kube-object.ts';
import type { RuleViolation, Rule } from './rule.ts';

export const deletionProtectionRule: Rule = {
  shape: 'step',
  id: 'namespaces.deletion',
  judge: ({ review: { object, oldObject } }) =>
    object === undefined ? judgeDeletion(oldObject) : judgeProviders(oldObject, object),
};

/** A namespace that is terminating already is past protecting, and the controllers must be able to finish it. */
function judgeDeletion(namespace: KubeObject | undefined): readonly RuleViolation[] {
  if (namespace === undefined || isTerminating(namespace) || isReleased(namespace)) return [];
  return [
    {
      path: keyPath('annotations', allowDeletionAnnotation),
      found: quotedOrNothing(valueOf(annotationsOf(namespace), allowDeletionAnnotation)),
      accepted: `deletion ${releaseHint(namespace)}`,
      identity: undefined,
    },
  ];
}

/**
 * The garbage collector deletes an object whose owner is gone, so an owner is a deletion in disguise.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/#owners-dependents
 */
function judgeProviders(oldObject: KubeObject | undefined, object: KubeObject): readonly RuleViolation[] {
  if (isReleased(object)) return [];
  const before = new Set((oldObject?.metadata.ownerReferences ?? []).map(providerIdentity));
  const owners = object.metadata.ownerReferences ?? [];
  return owners.flatMap((owner, index) => {
    if (before.has(providerIdentity(owner))) return [];
    return [
      {
        path: `metadata.ownerReferences[${index}]`,
        found: clipped(`owner ${owner.kind ?? ''} ${owner.name ?? ''}`),
        accepted: `no new owner, whose end would be the end of the namespace too, or one ${releaseHint(object)}`,
        identity: undefined,
      },
    ];
  });
}

function isReleased(namespace: KubeObject): boolean {
  const annotation = valueOf(annotationsOf(namespace), allowDeletionAnnotation);
  return annotation !== undefined && annotation === nameOf(namespace);
}

function releaseHint(namespace: KubeObject): string {
  const name = clipped(nameOf(namespace));
  return `after kubectl annotate namespace ${name} --overwrite ${allowDeletionAnnotation}=${name}`;
}

function providerIdentity({ apiVersion, kind, name, uid }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid]);
}

function quotedOrNothing(value: string | undefined): string {
  return value === undefined ? 'nothing' : quoted(value);
}
