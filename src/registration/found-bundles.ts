// The authorities in a webhook configuration as it is stored: whether they are ours, and keeping those that others have written.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { encodedBundle } from './wanted-configurations.ts';

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

/** What is stored, where the webhooks that lead to our Service have the authorities of those that are wanted. */
export function withWantedBundle(stored: KubeObject, wanted: KubeObject): KubeObject {
  const [ours] = webhooksOf(wanted);
  const bundle = ours === undefined ? undefined : bundleOf(ours);
  if (ours === undefined || bundle === undefined) return stored;
  const webhooks = webhooksOf(stored).map((webhook) =>
    isDeepStrictEqual(placeOf(webhook), placeOf(ours)) ? withBundle(webhook, bundle) : webhook,
  );
  return { ...stored, webhooks };
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

/** Paths differ between webhooks, and ports between versions. */
function placeOf({ clientConfig }: JsonObject): unknown {
  const service = ownMember(clientConfig, 'service');
  return [ownMember(service, 'namespace'), ownMember(service, 'name')];
}

function bundleOf({ clientConfig }: JsonObject): string | undefined {
  const bundle = ownMember(clientConfig, 'caBundle');
  return typeof bundle === 'string' && bundle !== '' ? bundle : undefined;
}
