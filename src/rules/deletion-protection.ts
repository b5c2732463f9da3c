// namespaces.deletion: a namespace must be annotated with its own name before it can be deleted.
import { allowDeletionAnnotation } from '../schema/names.ts';
import {
  annotationsOf,
  isTerminating,
  nameOf,
  valueOf,
  type KubeObject,
  type OwnerReference,
} from '../base/metadata.ts';
import { clipped, quoted } from '../base/text.ts';
import { boolean, object as objectSchema, withDefault } from '../schema/schema.ts';
import { comparedKey, inField } from './fields.ts';
import { ruleForm, type RuleViolation, type Rule } from './rule.ts';

export const deletionProtection = ruleForm({
  id: 'namespaces.deletion',
  judges: 'namespaces',
  field: objectSchema({
    description: 'Protects matched namespaces from deletion by mistake.',
    fields: {
      protect: withDefault(
        boolean(
          'Whether to refuse to delete a matched namespace until it has the annotation reeve.dev/allow-deletion with its own name as the value. Until then an ownerReference is refused too, because the garbage collector could delete the namespace through it. Default: false.',
        ),
        false,
      ),
    },
  }),
  operations: ['DELETE'],
  judgedWhen: 'the namespace is deleted, or gets an owner',
  compile: ({ protect }) => (protect ? protection : []),
  examples: ({ protect }, name) => ({
    writes: protect
      ? [
          { operation: 'DELETE' },
          {
            title: `with annotation ${allowDeletionAnnotation}`,
            operation: 'DELETE',
            object: inField('annotations', allowDeletionAnnotation, name),
          },
        ]
      : [],
  }),
});

const protection: Rule = {
  shape: 'step',
  judge: ({ review: { object, oldObject } }) =>
    object === undefined ? judgeDeletion(oldObject) : judgeOwners(oldObject, object),
  compared: (namespace, { operation }) =>
    operation === 'DELETE'
      ? [comparedKey(namespace, 'annotations', allowDeletionAnnotation, quoted(nameOf(namespace)))]
      : [],
};

/** A terminating namespace is not protected, because controllers must be able to finish its deletion. */
function judgeDeletion(namespace: KubeObject | undefined): readonly RuleViolation[] {
  if (namespace === undefined || isTerminating(namespace) || isReleased(namespace)) return [];
  const accepted = `deletion ${releaseHint(namespace)}`;
  return [
    { ...comparedKey(namespace, 'annotations', allowDeletionAnnotation, accepted), identity: undefined },
  ];
}

/**
 * The garbage collector deletes an object after its owner, so adding an owner can delete the namespace later.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/#owners-dependents
 */
function judgeOwners(oldObject: KubeObject | undefined, object: KubeObject): readonly RuleViolation[] {
  if (isReleased(object)) return [];
  const before = new Set((oldObject?.metadata.ownerReferences ?? []).map(ownerIdentity));
  const owners = object.metadata.ownerReferences ?? [];
  return owners.flatMap((owner, index) => {
    if (before.has(ownerIdentity(owner))) return [];
    return [
      {
        path: `metadata.ownerReferences[${index}]`,
        found: clipped(`owner ${owner.kind ?? ''} ${owner.name ?? ''}`),
        accepted: `no new owner, because deleting the owner deletes the namespace, or one ${releaseHint(object)}`,
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

function ownerIdentity({ apiVersion, kind, name, uid }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid]);
}
