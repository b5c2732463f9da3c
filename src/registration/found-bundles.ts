// Reads the bundles in a stored webhook configuration, and keeps bundles that another program wrote.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { encodedBundle } from './wanted-configurations.ts';

/** True when every webhook of the configuration carries this bundle. */
export function carriesBundle(stored: KubeObject | undefined, pem: string): boolean {
  const webhooks = webhooksOf(stored);
  const wanted = encodedBundle(pem);
  return webhooks.length > 0 && webhooks.every((webhook) => bundleOf(webhook) === wanted);
}

/**
 * Copies the stored bundles into the wanted configuration. Without a bundle no API server can call the webhook, so the
 * failure policy of such a webhook is Ignore.
 */
export function withFoundBundles(wanted: KubeObject, stored: KubeObject | undefined): KubeObject {
  const found = new Map(webhooksOf(stored).map((webhook) => [webhook['name'], bundleOf(webhook)]));
  const webhooks = webhooksOf(wanted).map((webhook) => withBundle(webhook, found.get(webhook['name'])));
  return { ...wanted, webhooks };
}

/** Returns the stored configuration with the wanted bundle in each webhook that leads to our Service. */
export function withWantedBundle(stored: KubeObject, wanted: KubeObject): KubeObject {
  const [ours] = webhooksOf(wanted);
  const bundle = ours === undefined ? undefined : bundleOf(ours);
  if (ours === undefined || bundle === undefined) return stored;
  const webhooks = webhooksOf(stored).map((webhook) =>
    isDeepStrictEqual(placeOf(webhook), placeOf(ours)) ? withBundle(webhook, bundle) : webhook,
  );
  return { ...stored, webhooks };
}

/** Returns the names of the webhooks without a bundle. */
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

/** Leaves out path and port: paths differ between webhooks, and ports between versions. */
function placeOf({ clientConfig }: JsonObject): unknown {
  const service = ownMember(clientConfig, 'service');
  return [ownMember(service, 'namespace'), ownMember(service, 'name')];
}

function bundleOf({ clientConfig }: JsonObject): string | undefined {
  const bundle = ownMember(clientConfig, 'caBundle');
  return typeof bundle === 'string' && bundle !== '' ? bundle : undefined;
}
