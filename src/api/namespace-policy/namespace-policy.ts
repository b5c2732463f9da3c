// Defines the kind NamespacePolicy: its fields, the types derived from them, and how to parse one.
import { apiVersion } from '../../schema/names.ts';
import {
  type validationAction,
  existing,
  policyException,
  validationActions,
  validationRule,
} from './validations.ts';
import { type roleBindingContent, type serviceAccountContent, type subject, contents } from './contents.ts';
import type { defaults } from './defaults.ts';
import { type labelSelector, type matchCondition, matchOf } from './match.ts';
import {
  type immutable,
  type nameRule,
  type quota,
  type requesters,
  type required,
  type requiredKey,
  namespaceRules,
} from './namespaces.ts';
import { rbacRules } from './rbac.ts';
import { type dockerConfigSchema, type tlsSchema, secretRules } from './secrets.ts';
import { policyStatus } from './status.ts';
import type { Problem } from '../../base/problem.ts';
import { providerFields, providerName, objectMetadata } from '../provider-fields.ts';
import { choice, list, object, specification } from '../../schema/build.ts';
import type { Infer } from '../../schema/schema.ts';
import { validate } from '../../schema/validate.ts';
import { readStatus, splitStatus } from '../status-fields.ts';

const match = matchOf('policy');

const spec = specification({
  description:
    'What the matched namespaces must look like and contain. Rules (namespaces, secrets, rbac, validations) are checked before an object is stored. Contents are created afterwards and kept.',
  fields: {
    match,
    validationActions,
    existing,
    namespaces: namespaceRules,
    secrets: secretRules,
    rbac: rbacRules,
    validations: list({
      description: 'Rules of your own on the Namespace, in CEL, for what the other rules cannot express.',
      items: validationRule,
      maxItems: 50,
      unique: { key: 'name' },
    }),
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

export const namespacePolicyKind = 'NamespacePolicy';

/** The whole object without its status: Reeve writes the status, so it never makes a policy invalid. */
const namespacePolicy = object({
  description:
    'NamespacePolicy says once what all namespaces it matches must look like and must contain. Reeve refuses requests that violate its rules, and creates and keeps the objects it provides.',
  fields: {
    apiVersion: choice('The group and version of the kind.', [apiVersion]),
    kind: choice('The kind.', [namespacePolicyKind]),
    metadata: objectMetadata(providerName),
    spec,
  },
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
});

/** The parts of the CRD whose schema Reeve defines. */
export const namespacePolicySchemas = {
  description: namespacePolicy.description,
  name: providerName,
  spec,
  status: policyStatus,
};

export type ValidationAction = Infer<typeof validationAction>;
export type LabelSelector = Infer<typeof labelSelector>;
export type MatchCondition = Infer<typeof matchCondition>;
export type MatchSpec = Infer<typeof match>;
export type NameRule = Infer<typeof nameRule>;
export type RequiredKey = Infer<typeof requiredKey>;
export type RequiredSpec = Infer<typeof required>;
export type DefaultsSpec = Infer<ReturnType<typeof defaults>>;
export type ImmutableSpec = Infer<typeof immutable>;
export type RequestersSpec = Infer<typeof requesters>;
export type QuotaSpec = Infer<typeof quota>;
export type TlsRule = Infer<typeof tlsSchema>;
export type DockerConfigRule = Infer<typeof dockerConfigSchema>;
export type SecretRules = Infer<typeof secretRules>;
export type RbacRules = Infer<typeof rbacRules>;
export type ValidationRule = Infer<typeof validationRule>;
export type Subject = Infer<typeof subject>;
export type RoleBindingContent = Infer<typeof roleBindingContent>;
export type ServiceAccountContent = Infer<typeof serviceAccountContent>;
export type ContentsSpec = Infer<typeof contents>;
export type PolicyException = Infer<typeof policyException>;
export type NamespacePolicySpec = Infer<typeof spec>;
type NamespacePolicyStatus = Infer<typeof policyStatus>;
export type NamespacePolicy = Infer<typeof namespacePolicy> & { readonly status?: NamespacePolicyStatus };

type ParsedPolicy =
  | { readonly ok: true; readonly policy: NamespacePolicy }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function parseNamespacePolicy(value: unknown): ParsedPolicy {
  const { rest, reported } = splitStatus(value);
  const outcome = validate(namespacePolicy, rest);
  if (!outcome.ok) return outcome;
  return { ok: true, policy: { ...outcome.value, ...readStatus(policyStatus, reported) } };
}
