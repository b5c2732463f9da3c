// Defines webhook configurations, ValidatingAdmissionPolicies and their bindings.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
import { labelSelector } from '../../schema/selector.ts';
import { matchCondition } from '../../schema/common-fields.ts';
import { withDefault, type Fields } from '../../schema/schema.ts';
import type { Resource } from '../resource.ts';
import { age, column, keysAt, sizeColumn } from './column.ts';
import { define } from './define.ts';
import {
  anything,
  anyText,
  fields,
  oneOf,
  ruled,
  several,
  severalBy,
  some,
  someText,
  whole,
} from './shape.ts';

const group = 'admissionregistration.k8s.io';
const common = { isNamespaced: false, categories: ['api-extensions'], hasGeneration: true };

const failurePolicy = withDefault(oneOf('Fail', 'Ignore'), 'Fail');
const selection = {
  namespaceSelector: withDefault(labelSelector, {}),
  objectSelector: withDefault(labelSelector, {}),
  matchPolicy: withDefault(oneOf('Equivalent', 'Exact'), 'Equivalent'),
};
const rule = fields(
  {
    operations: some(oneOf('*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE')),
    apiGroups: some(anyText),
    apiVersions: some(someText),
    resources: some(someText),
    scope: withDefault(oneOf('*', 'Cluster', 'Namespaced'), '*'),
  },
  { resourceNames: several(anyText) },
);
const rules = several(rule);

const port = withDefault(whole(1, 65_535), 443);
const service = fields({ namespace: someText, name: someText, port }, { path: anyText });
const url = { ...anyText, pattern: '^https://[^/?#@]+(/[^?#]*)?$', accepted: 'an https URL' };
const clientConfig = ruled(
  fields({}, { url, service, caBundle: anyText }),
  'exactly one of url or service is required',
  (config) => (keysAt(config).filter((name) => name !== 'caBundle').length === 1 ? undefined : []),
);
const webhookFields = {
  name: someText,
  clientConfig,
  sideEffects: oneOf('None', 'NoneOnDryRun'),
  admissionReviewVersions: some(someText),
  failurePolicy,
  timeoutSeconds: withDefault(whole(1, 30), 10),
  ...selection,
};
const matchConditions = severalBy('name', fields(matchCondition.fields));
const choice = { rules, matchConditions };

function configuration(kind: string, extra: Fields): Resource {
  return define(group, kind, {
    description: 'The webhooks that the API server calls before a write is stored.',
    ...common,
    columns: [sizeColumn('Webhooks', '.webhooks'), age],
    optional: { webhooks: severalBy('name', fields({ ...webhookFields, ...extra }, choice)) },
  });
}

const expression = someText;
const named = severalBy('name', fields({ name: someText, expression }));
const texts = { message: anyText, reason: anyText, messageExpression: anyText };
const matchResources = fields({}, { ...selection, resourceRules: rules, excludeResourceRules: rules });
const policySpec = fields(
  { matchConstraints: matchResources, failurePolicy },
  {
    paramKind: anything,
    validations: several(fields({ expression }, texts)),
    auditAnnotations: several(anything),
    matchConditions,
    variables: named,
  },
);

const policy = define(group, 'ValidatingAdmissionPolicy', {
  description: 'CEL expressions that a write must satisfy; a binding puts them in force.',
  ...common,
  plural: 'validatingadmissionpolicies',
  subresources: ['status'],
  columns: [sizeColumn('Validations', '.spec.validations'), column('ParamKind', '.spec.paramKind.kind'), age],
  needed: { spec: policySpec },
  optional: { status: anything },
});

const policyName = someText;
const validationActions = some(oneOf('Audit', 'Deny', 'Warn'));

const policyBinding = define(group, 'ValidatingAdmissionPolicyBinding', {
  description: 'Puts a ValidatingAdmissionPolicy in force.',
  ...common,
  columns: [column('PolicyName', '.spec.policyName'), column('ParamRef', '.spec.paramRef.name'), age],
  needed: { spec: fields({ policyName, validationActions }, { paramRef: anything, matchResources }) },
});

const reinvocationPolicy = withDefault(oneOf('IfNeeded', 'Never'), 'Never');

export const admissionKinds: readonly Resource[] = [
  configuration('ValidatingWebhookConfiguration', {}),
  configuration('MutatingWebhookConfiguration', { reinvocationPolicy }),
  policy,
  policyBinding,
];
