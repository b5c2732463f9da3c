// Marks what the program has written into a webhook configuration, so that a later run can tell whether others have changed it.
import { createHash } from 'node:crypto';
import { isJsonObject, ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { group } from '../api/names.ts';
import { versionAnnotation } from './wanted-configurations.ts';

/** On a webhook configuration: the hash of the webhooks that the program has written, and of its version. */
export const sealAnnotation = `${group}/sealed`;

/** `isBundleOurs`: otherwise others may write the authorities, and the seal does not speak of them. */
export function sealed(configuration: KubeObject, isBundleOurs: boolean): KubeObject {
  const { metadata, webhooks } = configuration;
  const seal = sealOf(metadata, isBundleOurs ? webhooks : withoutBundles(webhooks));
  const annotations = { ...metadata.annotations, [sealAnnotation]: seal };
  return { ...configuration, metadata: { ...metadata, annotations } };
}

/** It tells a change by others from one by an earlier run of ours; whoever removes it is not noticed, and nobody kept out. */
export function isSealBroken(configuration: KubeObject): boolean {
  return sealOn(configuration) !== undefined && !isSealIntact(configuration);
}

/** Whether it is there, and fits what stands there as the work of that version. */
export function isSealIntact(configuration: KubeObject): boolean {
  const { metadata, webhooks } = configuration;
  const seals = [webhooks, withoutBundles(webhooks)].map((each) => sealOf(metadata, each));
  return seals.some((seal) => seal === sealOn(configuration));
}

/**
 * The same text for the same value: in whatever order its members are, and with or without empty ones. Of itself, an
 * API server adds nothing but empty selectors.
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify([canonical(value)]);
}

function sealOn({ metadata }: KubeObject): unknown {
  return ownMember(metadata.annotations, sealAnnotation);
}

/** Every version has to reckon it alike: an older one believes a newer one by it. */
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
