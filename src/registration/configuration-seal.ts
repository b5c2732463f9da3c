// Seals a webhook configuration with a hash, so that a later run of the program sees whether others changed it.
import { createHash } from 'node:crypto';
import { isJsonObject, ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { group } from '../schema/names.ts';
import { versionAnnotation } from './wanted-configurations.ts';

/** Annotation on a webhook configuration: the hash of its webhooks and of the program's version. */
const sealAnnotation = `${group}/sealed`;

/** Leaves the bundles out of the seal when another program writes them. */
export function sealed(configuration: KubeObject, isBundleOurs: boolean): KubeObject {
  const { metadata, webhooks } = configuration;
  const seal = sealOf(metadata, isBundleOurs ? webhooks : withoutBundles(webhooks));
  const annotations = { ...metadata.annotations, [sealAnnotation]: seal };
  return { ...configuration, metadata: { ...metadata, annotations } };
}

/** True when others changed the configuration. The seal is no protection: anybody who may write can remove it. */
export function isSealBroken(configuration: KubeObject): boolean {
  return sealOn(configuration) !== undefined && !isSealIntact(configuration);
}

/** True when the seal exists and matches the webhooks and the version. */
export function isSealIntact(configuration: KubeObject): boolean {
  const { metadata, webhooks } = configuration;
  const seals = [webhooks, withoutBundles(webhooks)].map((each) => sealOf(metadata, each));
  return seals.some((seal) => seal === sealOn(configuration));
}

/**
 * Returns the same text for equal values, whatever the order of members and with or without empty members: an API
 * server adds empty selectors.
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify([canonical(value)]);
}

function sealOn({ metadata }: KubeObject): unknown {
  return ownMember(metadata.annotations, sealAnnotation);
}

/** Every version must compute it the same way: an older version trusts a newer one by its seal. */
function sealOf({ annotations }: KubeObject['metadata'], webhooks: unknown): string {
  const text = canonicalText([ownMember(annotations, versionAnnotation), webhooks]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function withoutBundles(webhooks: unknown): unknown {
  if (!Array.isArray(webhooks)) return webhooks;
  return webhooks.map((webhook: unknown) => {
    const client = ownMember(webhook, 'clientConfig');
    if (!isJsonObject(webhook) || !isJsonObject(client)) return webhook;
    const { caBundle: _caBundle, ...clientConfig } = client;
    return { ...webhook, clientConfig };
  });
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .map(([key, member]) => [key, canonical(member)] as const)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
