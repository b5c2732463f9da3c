// Fills the two shipped templates with the settings of the install and the needs of the loaded policies.
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import { configurationName, group, namespaceNameLabel, systemNamespaces } from '../schema/names.ts';
import type { HookMode, JudgedKinds } from '../policy/compile/snapshot.ts';

/** Annotation on a webhook configuration: the version of the program that wrote it. */
export const versionAnnotation = `${group}/version`;

/** manifests/webhooks, as JSON. */
export interface WebhookTemplates {
  readonly validating: JsonObject;
  readonly mutating: JsonObject;
}

export interface WebhookOptions {
  /** In PEM. Undefined: another program writes the bundle. */
  readonly caBundle: string | undefined;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** In addition to the namespaces of Kubernetes itself. */
  readonly excludedNamespaces: readonly string[];
  /** The webhooks skip the requests of this user. */
  readonly reconcilerUsername: string;
  readonly secretsAndRbac: HookMode;
  readonly judged: JudgedKinds;
  /** The ClusterRole whose deletion deletes the configurations. */
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
  // An empty configuration would allow every request without a warning.
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

/** Encodes a bundle as the API stores it. */
export function encodedBundle(pem: string): string {
  return Buffer.from(pem).toString('base64');
}

/** The garbage collector deletes the configuration together with its owner. */
function ownerReference({ name, uid }: WebhookOptions['owner']): JsonObject {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name, uid };
}

/** Webhooks that exist only while a policy needs them. All other webhooks always exist. */
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
  // A default may be missed, because validation requires the value.
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

/** Excludes by the name label only: a user could set any other label to escape the webhooks. */
function otherNamespaces({ excludedNamespaces }: WebhookOptions): JsonObject {
  const values = [...new Set([...systemNamespaces, ...excludedNamespaces])];
  return { matchExpressions: [{ key: namespaceNameLabel, operator: 'NotIn', values }] };
}

function conditions(
  templates: readonly unknown[],
  { reconcilerUsername }: WebhookOptions,
): readonly unknown[] {
  // A JSON string is a CEL string.
  const expression = `request.userInfo.username != ${JSON.stringify(reconcilerUsername)}`;
  const expressions = new Map<unknown, string>([
    ['not-reeve', expression],
    ['not-reeve-update', `${expression} || request.operation != "UPDATE"`],
  ]);
  return templates.map((each) => {
    const filled = isJsonObject(each) ? expressions.get(each['name']) : undefined;
    return isJsonObject(each) && filled !== undefined ? { ...each, expression: filled } : each;
  });
}
