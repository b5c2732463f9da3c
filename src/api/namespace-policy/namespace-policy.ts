// Defines the kind NamespacePolicy: its fields, and the types derived from them.
import { expression, notBoth, type matchCondition } from '../../schema/common-fields.ts';
import {
  type validationAction,
  actionOverride,
  existing,
  policyException,
  validationActions,
} from './exceptions.ts';
import { contentFields, contentKinds } from '../../contents/contents.ts';
import { matchOf } from './match.ts';
import { policyColumns, policyStatus } from './status.ts';
import { defineKind, type ObjectOfKind } from '../kind.ts';
import { providerFields } from '../provider-fields.ts';
import { list, object, specification, text, type Infer } from '../../schema/schema.ts';
import { blockFields, rules } from '../../rules/rules.ts';
import { validations } from '../../rules/validations.ts';

const match = matchOf('policy');

const namespaces = object({
  description: 'Rules on the Namespaces themselves, checked before they are stored.',
  fields: blockFields('namespaces', rules),
});

const secrets = object({
  description:
    'Rules on Secrets in matched namespaces, checked before they are stored. Secrets of type helm.sh/release.v1, where Helm stores its releases, are checked only if forbiddenTypes or allowedTypes names that type.',
  fields: blockFields('secrets', rules),
  rules: [notBoth('forbiddenTypes', 'allowedTypes')],
});

const rbac = object({
  description: 'Rules on Roles and RoleBindings in matched namespaces, checked before they are stored.',
  fields: blockFields('rbac', rules),
});

const contents = object({
  description:
    'The objects that every matched namespace contains, old or new. Reeve creates them, restores them when they change, and deletes them when the policy no longer wants them. Labels and annotations of a Namespace that make one of them fail violate the rule contents: validationActions and exceptions apply to it.',
  fields: contentFields(contentKinds),
});

const variable = object({
  description: 'A name for an expression.',
  fields: {
    name: text({
      description: 'The name, with which expressions and templates read it: variables.<name>. Example: team.',
      minLength: 1,
      maxLength: 63,
      pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
      accepted: 'a name of letters, digits and _, such as team',
    }),
    expression: expression(
      "CEL over namespaceObject and the variables before it, or over what else its readers see: object, oldObject, request. Example: namespaceObject.metadata.labels['team'].",
    ),
  },
  required: ['name', 'expression'],
});

const spec = specification({
  description:
    'What the matched namespaces must look like and contain. Rules (namespaces, secrets, rbac, validations) are checked before an object is stored. Contents are created afterwards and kept.',
  fields: {
    match,
    variables: list({
      description:
        'Names for expressions, which all other expressions and templates of the policy read as variables.<name>. A variable is evaluated when it is first read. variables.cluster.<name> is a fact about the cluster, which the installation sets (--variable).',
      items: variable,
      maxItems: 50,
      unique: { key: 'name' },
      rules: [
        {
          accepted: 'another name',
          mustNot: 'name a variable cluster',
          cel: "self.all(each, each.name != 'cluster')",
          offender: (variables) => {
            const index = variables.findIndex(({ name }) => name === 'cluster');
            return index === -1 ? undefined : [index, 'name'];
          },
        },
      ],
    }),
    validationActions,
    validationActionOverrides: list({
      description:
        'Other actions in some namespaces, for example [Warn] until their owners have mended them, or [Deny] in the first few of a roll-out. The first entry that covers a namespace decides there, for all rules of the policy. Who moves a namespace to where violations are no longer denied needs the right to use the policy.',
      items: actionOverride,
      maxItems: 20,
    }),
    existing,
    namespaces,
    secrets,
    rbac,
    validations: validations.field,
    contents,
    ...providerFields({
      provider: 'policy',
      provided: 'contents',
      whileSuspended: ', expiry included. Rules still apply.',
    }),
    exceptions: list({
      description: 'Namespaces to which some of the rules do not apply.',
      items: policyException,
      maxItems: 50,
    }),
  },
});

export const namespacePolicy = defineKind({
  kind: 'NamespacePolicy',
  plural: 'namespacepolicies',
  shortName: 'nspol',
  word: 'policy',
  scope: 'Cluster',
  description:
    'NamespacePolicy says once what all namespaces it matches must look like and must contain. Reeve refuses requests that violate its rules, and creates and keeps the objects it provides.',
  spec,
  status: policyStatus,
  columns: policyColumns,
});

export type ValidationAction = Infer<typeof validationAction>;
export type MatchCondition = Infer<typeof matchCondition>;
export type MatchSpec = Infer<typeof match>;
export type ContentsSpec = Infer<typeof contents>;
export type ActionOverride = Infer<typeof actionOverride>;
export type PolicyException = Infer<typeof policyException>;
export type NamespacePolicySpec = Infer<typeof spec>;
export type NamespacePolicy = ObjectOfKind<typeof namespacePolicy>;
