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
import { boolean, choice, object as objectSchema, withDefault, type Infer } from '../schema/schema.ts';
import { comparedKey, inField } from './fields.ts';
import { ruleForm, type ExampleWrite, type RuleViolation, type Rule } from './rule.ts';

const schema = objectSchema({
  description: 'Protects matched namespaces from deletion by mistake.',
  fields: {
    protect: withDefault(
      boolean(
        'Whether to refuse to delete a matched namespace until it is released. Until then an ownerReference is refused too, because the garbage collector could delete the namespace through it. Default: false.',
      ),
      false,
    ),
    releasedBy: withDefault(
      choice(
        'What releases a namespace. annotation: the annotation reeve.dev/allow-deletion with the name of the namespace as its value, which everyone who may change the namespace can set. use: nothing on the namespace; the user who deletes it needs the right to use the policy, through RBAC. Default: annotation.',
        ['annotation', 'use'],
      ),
      'annotation',
    ),
  },
});

type ReleasedBy = Infer<typeof schema>['releasedBy'];

export const deletionProtection = ruleForm({
  id: 'namespaces.deletion',
  judges: 'namespaces',
  field: schema,
  operations: ['DELETE'],
  judgedWhen: 'the namespace is deleted, or gets an owner',
  compile: ({ protect, releasedBy }) => (protect ? protection(releasedBy) : []),
  examples: ({ protect, releasedBy }, name) => ({ writes: protect ? exampleWrites[releasedBy](name) : [] }),
});

const exampleWrites: Readonly<Record<ReleasedBy, (name: string) => readonly ExampleWrite[]>> = {
  annotation: (name) => [
    { operation: 'DELETE' },
    {
      title: `with annotation ${allowDeletionAnnotation}`,
      operation: 'DELETE',
      object: inField('annotations', allowDeletionAnnotation, name),
    },
  ],
  use: () => [
    { operation: 'DELETE' },
    { title: 'as another user', operation: 'DELETE', sender: { as: 'another-user', lacksUse: true } },
  ],
};

function protection(releasedBy: ReleasedBy): Rule {
  return {
    shape: 'step',
    judge: ({ review: { object, oldObject } }) =>
      object === undefined
        ? judgeDeletion(oldObject, releasedBy)
        : judgeOwners(oldObject, object, releasedBy),
    compared: (namespace, { operation, username }) => {
      if (operation !== 'DELETE') return [];
      return releasedBy === 'use'
        ? [{ path: 'request.userInfo', found: `user ${quoted(username)}`, accepted: userOfPolicy }]
        : [comparedKey(namespace, 'annotations', allowDeletionAnnotation, quoted(nameOf(namespace)))];
    },
  };
}

/** A terminating namespace is not protected, because controllers must be able to finish its deletion. */
function judgeDeletion(namespace: KubeObject | undefined, releasedBy: ReleasedBy): readonly RuleViolation[] {
  if (namespace === undefined || isTerminating(namespace)) return [];
  if (releasedBy === 'use') {
    const effect = `delete namespace ${clipped(nameOf(namespace))}`;
    return [permittedViolation('metadata', effect)];
  }
  if (isReleased(namespace)) return [];
  const accepted = `deletion ${releaseHint(namespace)}`;
  return [
    { ...comparedKey(namespace, 'annotations', allowDeletionAnnotation, accepted), identity: undefined },
  ];
}

function permittedViolation(path: string, effect: string): RuleViolation {
  const found = 'a user without the right to use the policy';
  return { path, found, accepted: userOfPolicy, permittedByUse: effect, identity: undefined };
}

const userOfPolicy = 'a user with the right to use the policy';

/**
 * The garbage collector deletes an object after its owner, so adding an owner can delete the namespace later.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/#owners-dependents
 */
function judgeOwners(
  oldObject: KubeObject | undefined,
  object: KubeObject,
  releasedBy: ReleasedBy,
): readonly RuleViolation[] {
  if (releasedBy === 'annotation' && isReleased(object)) return [];
  const before = new Set((oldObject?.metadata.ownerReferences ?? []).map(ownerIdentity));
  const owners = object.metadata.ownerReferences ?? [];
  return owners.flatMap((owner, index) => {
    if (before.has(ownerIdentity(owner))) return [];
    const path = `metadata.ownerReferences[${index}]`;
    const shown = clipped(`owner ${owner.kind ?? ''} ${owner.name ?? ''}`);
    if (releasedBy === 'use')
      return [permittedViolation(path, `add ${shown}, because deleting the owner deletes the namespace`)];
    const accepted = `no new owner, because deleting the owner deletes the namespace, or one ${releaseHint(object)}`;
    return [{ path, found: shown, accepted, identity: undefined }];
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
