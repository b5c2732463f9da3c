// The field `contents`: RoleBindings and other objects that the reconciler creates in every matched namespace.
import { duration, notBoth, time } from '../../schema/common-fields.ts';
import { isReservedSubject, reservedPrefix } from '../../base/kubernetes-names.ts';
import { boolean, choice, list, object, text } from '../../schema/build.ts';
import { resourceContent } from './resource-content.ts';

const template = 'Text or a template: CEL in ${ } sees namespaceObject, the Namespace; $${ is a literal ${.';

const subject = object({
  description: 'Who gets the role.',
  fields: {
    kind: choice('What the subject is.', ['User', 'Group', 'ServiceAccount']),
    name: text({
      description: `The name of the user, group or service account. ${template} Example: "ad-kubernetes-\${namespaceObject.metadata.name}".`,
      minLength: 1,
      maxLength: 8192,
      braces: 'template',
    }),
    namespace: text({
      description: `The namespace of the service account: required for a ServiceAccount, not allowed otherwise. ${template} Example: "\${namespaceObject.metadata.name}".`,
      minLength: 1,
      maxLength: 8192,
      braces: 'template',
    }),
  },
  required: ['kind', 'name'],
  rules: [
    {
      accepted: 'a namespace if the kind is ServiceAccount, and none otherwise',
      must: 'have',
      // `namespace` is a reserved word of CEL, which the API server escapes.
      cel: "(self.kind == 'ServiceAccount') == has(self.__namespace__)",
      offender: ({ kind, namespace }) =>
        (kind === 'ServiceAccount') === (namespace !== undefined) ? undefined : ['namespace'],
    },
    {
      accepted: 'a user or group outside system:, which Kubernetes reserves for itself',
      cel: `self.kind == 'ServiceAccount' || !self.name.startsWith('${reservedPrefix}')`,
      offender: (written) => (isReservedSubject(written) ? ['name'] : undefined),
    },
  ],
});

const roleRef = object({
  description:
    'The role that the subjects get in the namespace. Never a template. The author must have the right to bind it, and to create, patch and delete RoleBindings.',
  fields: {
    kind: choice('Always ClusterRole.', ['ClusterRole']),
    name: text({
      description: 'The name of the ClusterRole. Example: edit.',
      minLength: 1,
      maxLength: 253,
      pattern: '^[^/%$\\s]+$',
      accepted: 'the name of a ClusterRole',
    }),
  },
  required: ['kind', 'name'],
});

export const roleBindingContent = object({
  description: 'A RoleBinding that every matched namespace contains.',
  fields: {
    name: text({
      description: `The name of the RoleBinding. ${template} Unique among the roleBindings. Example: ad-kubernetes-\${namespaceObject.metadata.name}.`,
      minLength: 1,
      maxLength: 4096,
      braces: 'template',
    }),
    roleRef,
    subjects: list({ description: 'Who gets the role.', items: subject, minItems: 1, maxItems: 100 }),
    expiresAfter: duration(
      'How long after the creation of the namespace the RoleBinding is deleted. At most one of this and expiresAt. Example: 8h.',
    ),
    expiresAt: time(
      'When the RoleBinding is deleted. At most one of this and expiresAfter. Example: "2027-01-31T00:00:00Z".',
    ),
  },
  required: ['name', 'roleRef', 'subjects'],
  rules: [notBoth('expiresAfter', 'expiresAt')],
});

const maxPullSecrets = 10;

export const serviceAccountContent = object({
  description:
    'Fields of a ServiceAccount that Kubernetes or another user creates. Reeve adds these fields and takes them back. It never creates, deletes or labels the ServiceAccount, and leaves its other fields alone. The author must have the right to patch ServiceAccounts.',
  fields: {
    name: text({
      description: `The name of the ServiceAccount. ${template} Unique among the serviceAccounts. Example: default, which Kubernetes creates in every namespace.`,
      minLength: 1,
      maxLength: 4096,
      braces: 'template',
    }),
    imagePullSecrets: list({
      description: `Names of Secrets in the same namespace with which Pods of the ServiceAccount pull images. They are added to those of other policies and of other users. ${template} Example: [regcred].`,
      items: text({
        description: 'The name of a Secret.',
        minLength: 1,
        maxLength: 4096,
        braces: 'template',
      }),
      minItems: 1,
      maxItems: maxPullSecrets,
      unique: 'set',
    }),
    automountServiceAccountToken: boolean(
      'Whether Pods of the ServiceAccount get its token mounted, unless the Pod says otherwise. Where several policies say different, false wins. Example: false.',
    ),
  },
  required: ['name'],
  rules: [
    {
      accepted: 'imagePullSecrets, automountServiceAccountToken, or both',
      must: 'have',
      cel: 'has(self.imagePullSecrets) || has(self.automountServiceAccountToken)',
      offender: ({ imagePullSecrets, automountServiceAccountToken }) =>
        imagePullSecrets === undefined && automountServiceAccountToken === undefined ? [] : undefined,
    },
  ],
});

export const contents = object({
  description:
    'The objects that every matched namespace contains, old or new. Reeve creates them, restores them when they change, and deletes them when the policy no longer wants them. Labels and annotations of a Namespace that make one of them fail violate the rule contents: validationActions and exceptions apply to it.',
  fields: {
    roleBindings: list({
      description: 'RoleBindings to ClusterRoles.',
      items: roleBindingContent,
      maxItems: 50,
      unique: { key: 'name' },
    }),
    resources: list({
      description:
        'Other namespaced objects, of the kinds that the installation allows. Not allowed: Secrets (use a SecretShare), RBAC, kinds of Reeve, cluster-scoped kinds. Example: [{apiVersion: v1, kind: ResourceQuota, metadata: {name: team}, spec: {hard: {pods: "50"}}}].',
      items: resourceContent,
      maxItems: 50,
    }),
    serviceAccounts: list({
      description:
        'Fields of ServiceAccounts that exist already, such as default. Example: [{name: default, imagePullSecrets: [regcred]}].',
      items: serviceAccountContent,
      maxItems: 50,
      unique: { key: 'name' },
    }),
  },
});
