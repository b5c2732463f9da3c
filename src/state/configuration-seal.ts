// Marks what the program has written into a webhook configuration, so that a later run can tell whether others have changed it.
import { createHash } from 'node:crypto';
import { isJsonObject, ownMember } from '../api/json.ts';
import type { KubeObject } from '../api/kube-object.ts';
import { group } from '../api/names.ts';

/** On a webhook configuration: the hash of the webhooks that the program has written. */
export const sealAnnotation = `${group}/sealed`;

/** `isBundleOurs`: otherwise others may write the authorities, and the seal does not speak of them. */
export function sealed(configuration: KubeObject, isBundleOurs: boolean): KubeObject {
  const { metadata, webhooks } = configuration;
  const seal = sealOf(isBundleOurs ? webhooks : withoutBundles(webhooks));
  const annotations = { ...metadata.annotations, [sealAnnotation]: seal };
  return { ...configuration, metadata: { ...metadata, annotations } };
}

/** It tells a change by others from one by an earlier run of ours; whoever removes it is not noticed, and nobody kept out. */
export function isSealBroken({ metadata: { annotations }, webhooks }: KubeObject): boolean {
  const seal = annotations?.[sealAnnotation];
  return seal !== undefined && seal !== sealOf(webhooks) && seal !== sealOf(withoutBundles(webhooks));
}

/**
 * The same text for the same value: in whatever order its members are, and with or without empty ones. Of itself, an
 * API server adds nothing but empty selectors.
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify([canonical(value)]);
}

function sealOf(webhooks: unknown): string {
  return createHash('sha256').update(canonicalText(webhooks)).digest('base64url').slice(0, 22);
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
