// The authorities in a webhook configuration as it is stored: whether they are ours, and keeping those that others have written.
import { isJsonObject, ownMember, type JsonObject } from '../api/json.ts';
import type { KubeObject } from '../api/kube-object.ts';
import { encodedBundle } from './webhook-configurations.ts';

/** Whether API servers that know this configuration check every webhook of it by this bundle. */
export function carriesBundle(stored: KubeObject | undefined, pem: string): boolean {
  const webhooks = webhooksOf(stored);
  const wanted = encodedBundle(pem);
  return webhooks.length > 0 && webhooks.every((webhook) => bundleOf(webhook) === wanted);
}

/**
 * With the authorities that others have written into what is stored. While a webhook has none, no API server can check
 * whom it asks, so that webhook must not be able to refuse.
 */
export function withFoundBundles(wanted: KubeObject, stored: KubeObject | undefined): KubeObject {
  const found = new Map(webhooksOf(stored).map((webhook) => [webhook['name'], bundleOf(webhook)]));
  const webhooks = webhooksOf(wanted).map((webhook) => withBundle(webhook, found.get(webhook['name'])));
  return { ...wanted, webhooks };
}

/** The names of the webhooks that have none. */
export function webhooksWithoutBundle(configuration: KubeObject): readonly string[] {
  return webhooksOf(configuration)
    .filter((webhook) => bundleOf(webhook) === undefined)
    .map((webhook) => String(webhook['name']));
}

function withBundle(webhook: JsonObject, caBundle: string | undefined): JsonObject {
  const { clientConfig } = webhook;
  return caBundle === undefined
    ? { ...webhook, failurePolicy: 'Ignore' }
    : { ...webhook, clientConfig: { ...(isJsonObject(clientConfig) ? clientConfig : {}), caBundle } };
}

function webhooksOf(configuration: KubeObject | undefined): readonly JsonObject[] {
  const webhooks = configuration?.['webhooks'];
  return Array.isArray(webhooks) ? webhooks.filter(isJsonObject) : [];
}

function bundleOf({ clientConfig }: JsonObject): string | undefined {
  const bundle = ownMember(clientConfig, 'caBundle');
  return typeof bundle === 'string' && bundle !== '' ? bundle : undefined;
}
