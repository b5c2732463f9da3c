// Makes the two webhook configurations that suit an install and the policies in force, from their shipped templates.
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { configurationName, group, namespaceNameLabel, systemNamespaces } from '../api/names.ts';
import type { HookMode, JudgedKinds } from '../policy/compile/applicable-rules.ts';

/** On a webhook configuration: the version of the program that has written it. */
export const versionAnnotation = `${group}/version`;

/** manifests/webhooks, as JSON. */
export interface WebhookTemplates {
  readonly validating: JsonObject;
  readonly mutating: JsonObject;
}

export interface WebhookOptions {
  /** In PEM: the authorities that API servers may check the serving certificate by. Undefined: others write them. */
  readonly caBundle: string | undefined;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** Those of Kubernetes are left out in any case. */
  readonly excludedNamespaces: readonly string[];
  /** Its writes are not reviewed. */
  readonly reconcilerUsername: string;
  readonly secretsAndRbac: HookMode;
  readonly judged: JudgedKinds;
  /** The ClusterRole with which the configurations go. */
  readonly owner: { readonly name: string; readonly uid: string };
  readonly version: string;
}

export interface WebhookConfigurations {
  readonly validating: KubeObject;
  readonly mutating: KubeObject;
}

export function webhookConfigurations(
  templates: WebhookTemplates,
  options: WebhookOptions,
): WebhookConfigurations {
  return {
    validating: configuration(templates.validating, options),
    mutating: configuration(templates.mutating, options),
  };
}

function configuration(template: JsonObject, options: WebhookOptions): KubeObject {
  const { metadata, webhooks } = template;
  const entries = (Array.isArray(webhooks) ? webhooks.filter(isJsonObject) : []).filter((entry) =>
    isWanted(entry, options),
  );
  // It would let everything past, and nobody would notice.
  if (entries.length === 0) throw new Error('a webhook configuration without webhooks');
  return {
    ...template,
    metadata: {
      ...(isJsonObject(metadata) ? metadata : {}),
      name: configurationName,
      annotations: { [versionAnnotation]: options.version },
      ownerReferences: [ownerReference(options.owner)],
    },
    webhooks: entries.map((entry) => filledIn(entry, options)),
  };
}

/** As it stands in a configuration. */
export function encodedBundle(pem: string): string {
  return Buffer.from(pem).toString('base64');
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

function isWanted({ name }: JsonObject, { judged, secretsAndRbac }: WebhookOptions): boolean {
  const need = conditional.get(name);
  return need === undefined || (secretsAndRbac !== 'Off' && judged[need]);
}

function filledIn(webhook: JsonObject, options: WebhookOptions): JsonObject {
  const { namespaceSelector, matchConditions, clientConfig } = webhook;
  const need = conditional.get(webhook['name']);
  // Defaults may always be missed: validation demands them.
  const isOptional = need !== undefined && need !== 'secretDefaults';
  return {
    ...webhook,
    ...(isOptional ? { failurePolicy: options.secretsAndRbac } : {}),
    ...(namespaceSelector === undefined ? {} : { namespaceSelector: otherNamespaces(options) }),
    ...(Array.isArray(matchConditions) ? { matchConditions: conditions(matchConditions, options) } : {}),
    clientConfig: {
      service: { path: ownMember(ownMember(clientConfig, 'service'), 'path'), ...options.service },
      ...(options.caBundle === undefined ? {} : { caBundle: encodedBundle(options.caBundle) }),
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
