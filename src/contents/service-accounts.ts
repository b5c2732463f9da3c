// The kind of content `serviceAccounts`: fields of ServiceAccounts that Kubernetes or other users create.
import { ownMember } from '../base/json.ts';
import { groupOf, serviceAccountType } from '../base/object-type.ts';
import { boolean, list, object } from '../schema/schema.ts';
import { subdomain, templateHint, templateText } from './content-fields.ts';
import { contentKind } from './content.ts';

const maxPullSecrets = 10;

const serviceAccount = object({
  description:
    'Fields of a ServiceAccount that Kubernetes or another user creates. Reeve adds these fields and takes them back. It never creates, deletes or labels the ServiceAccount, and leaves its other fields alone. The author must have the right to patch ServiceAccounts.',
  fields: {
    name: templateText(
      `The name of the ServiceAccount. ${templateHint} Unique among the serviceAccounts. Example: default, which Kubernetes creates in every namespace.`,
      4096,
    ),
    imagePullSecrets: list({
      description: `Names of Secrets in the same namespace with which Pods of the ServiceAccount pull images. They are added to those of other policies and of other users. ${templateHint} Example: [regcred].`,
      items: templateText('The name of a Secret.', 4096),
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

/** Only names are templates: of the ServiceAccount, and of its Secrets. */
export const serviceAccounts = contentKind({
  name: 'serviceAccounts',
  field: list({
    description:
      'Fields of ServiceAccounts that exist already, such as default. Example: [{name: default, imagePullSecrets: [regcred]}].',
    items: serviceAccount,
    maxItems: 50,
    unique: { key: 'name' },
  }),
  ownership: 'fields',
  type: serviceAccountType,
  namePath: ['name'],
  template: ({ name, imagePullSecrets = [] }) => ({
    value: { name, imagePullSecrets },
    isFixed: () => false,
    checks: () => subdomain,
  }),
  render: {
    build: (rendered, { automountServiceAccountToken: automount }) => {
      const names = ownMember(rendered, 'imagePullSecrets');
      const pullSecrets = Array.isArray(names) ? [...new Set(names.map(String))] : [];
      return { kind: 'fields', fields: { pullSecrets, automount } };
    },
  },
  rights: () => [
    {
      verbs: ['patch'],
      group: groupOf(serviceAccountType.apiVersion),
      resource: 'serviceaccounts',
      effect: 'change ServiceAccounts',
      field: undefined,
      own: { purpose: 'reconciler', verbs: ['list', 'watch', 'patch'] },
    },
  ],
  compare: 'by-field',
});
