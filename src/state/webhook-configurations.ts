// Makes the two webhook configurations that suit an install and the policies in force, from their shipped templates.
import { isJsonObject, ownMember, type JsonObject } from '../api/json.ts';
import type { KubeObject } from '../api/kube-object.ts';
import { group, namespaceNameLabel, systemNamespaces } from '../api/names.ts';
import type { PolicySet } from '../policy/policy-set.ts';

/** On a webhook configuration: the version of the program that has written it. */
export const versionAnnotation = `${group}/version`;
/** Of both configurations. */
export const configurationName = 'reeve';

/** manifests/webhooks, as JSON. */
export interface WebhookTemplates {
  readonly validating: JsonObject;
  readonly mutating: JsonObject;
}

/** What some policy in force has rules or defaults for, beside Namespaces. */
export interface JudgedKinds {
  readonly secrets: boolean;
  readonly roles: boolean;
  readonly rolebindings: boolean;
  readonly secretDefaults: boolean;
}

export interface WebhookOptions {
  /** In PEM: the authorities that API servers may check the serving certificate by. */
  readonly caBundle: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** Those of Kubernetes are left out in any case. */
  readonly excludedNamespaces: readonly string[];
  /** Its writes are not reviewed. */
  readonly reconcilerUsername: string;
  readonly failurePolicyOfSecretsAndRbac: 'Ignore' | 'Fail';
  readonly judged: JudgedKinds;
  /** The ClusterRole with which the configurations go. */
  readonly owner: { readonly name: string; readonly uid: string };
  readonly version: string;
}

export interface WebhookConfigurations {
  readonly validating: KubeObject;
  readonly mutating: KubeObject;
}

export function judgedKinds(policies: PolicySet): JudgedKinds {
  return {
    secrets: policies.judges('secrets'),
    roles: policies.judges('roles'),
    rolebindings: policies.judges('rolebindings'),
    secretDefaults: policies.policies.some(({ secretDefaults }) => secretDefaults.length > 0),
  };
}

/** Whole, and with nothing that other writers could own: for server-side apply. */
export function webhookConfigurations(
  templates: WebhookTemplates,
  options: WebhookOptions,
): WebhookConfigurations {
  return {
    validating: configuration(templates.validating, options),
    mutating: configuration(templates.mutating, options),
  };
}

/**
 * Whether what is stored says no more than what is wanted. Server-side apply leaves what others have added, and a
 * selector or a condition of theirs would let requests past; of itself, the API server adds only empty selectors.
 */
export function saysNoMore(stored: unknown, wanted: unknown): boolean {
  if (Array.isArray(stored) && Array.isArray(wanted)) {
    return stored.length === wanted.length && stored.every((item, index) => saysNoMore(item, wanted[index]));
  }
  if (!isJsonObject(stored) || !isJsonObject(wanted)) return stored === wanted;
  return Object.entries(stored).every(([key, value]) =>
    Object.hasOwn(wanted, key)
      ? saysNoMore(value, wanted[key])
      : isJsonObject(value) && Object.keys(value).length === 0,
  );
}

function configuration(template: JsonObject, options: WebhookOptions): KubeObject {
  const { metadata, webhooks } = template;
  const entries = Array.isArray(webhooks) ? webhooks.filter(isJsonObject) : [];
  return {
    ...template,
    metadata: {
      ...(isJsonObject(metadata) ? metadata : {}),
      name: configurationName,
      annotations: { [versionAnnotation]: options.version },
      ownerReferences: [ownerReference(options.owner)],
    },
    webhooks: entries
      .filter((entry) => isWanted(entry, options.judged))
      .map((entry) => filledIn(entry, options)),
  };
}

/** The garbage collector deletes what it is on together with its owner. */
function ownerReference({ name, uid }: WebhookOptions['owner']): JsonObject {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name, uid };
}

/** The webhooks that are there only while some policy needs them; all others always are. */
const conditional = new Map<unknown, keyof JudgedKinds>([
  [`secrets.validate.${group}`, 'secrets'],
  [`roles.validate.${group}`, 'roles'],
  [`rolebindings.validate.${group}`, 'rolebindings'],
  [`secrets.mutate.${group}`, 'secretDefaults'],
]);

function isWanted({ name }: JsonObject, judged: JudgedKinds): boolean {
  const need = conditional.get(name);
  return need === undefined || judged[need];
}

function filledIn(webhook: JsonObject, options: WebhookOptions): JsonObject {
  const { namespaceSelector, matchConditions, clientConfig } = webhook;
  const need = conditional.get(webhook['name']);
  // Defaults may always be missed: validation demands them.
  const isOptional = need !== undefined && need !== 'secretDefaults';
  return {
    ...webhook,
    ...(isOptional ? { failurePolicy: options.failurePolicyOfSecretsAndRbac } : {}),
    ...(namespaceSelector === undefined ? {} : { namespaceSelector: otherNamespaces(options) }),
    ...(Array.isArray(matchConditions) ? { matchConditions: conditions(matchConditions, options) } : {}),
    clientConfig: {
      service: { path: ownMember(ownMember(clientConfig, 'service'), 'path'), ...options.service },
      caBundle: Buffer.from(options.caBundle).toString('base64'),
    },
  };
}

/** By name alone: any other label of a Namespace could be set by whoever wants to get past. */
function otherNamespaces({ excludedNamespaces }: WebhookOptions): JsonObject {
  const values = [...new Set([...systemNamespaces, ...excludedNamespaces])];
  return { matchExpressions: [{ key: namespaceNameLabel, operator: 'NotIn', values }] };
}

function conditions(
  templates: readonly unknown[],
  { reconcilerUsername }: WebhookOptions,
): readonly unknown[] {
  // A text of JSON is one of CEL.
  const expression = `request.userInfo.username != ${JSON.stringify(reconcilerUsername)}`;
  return templates.map((each) =>
    isJsonObject(each) && each['name'] === 'not-reeve' ? { ...each, expression } : each,
  );
}
