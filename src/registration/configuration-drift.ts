// Compares a stored webhook configuration with the wanted one, and names the differences without their values.
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import { createHash } from 'node:crypto';
import { group } from '../schema/names.ts';
import { versionAnnotation } from './wanted-configurations.ts';

/** The ways in which a stored configuration can differ from the wanted one. */
export const drifts = [
  'deleted',
  'emptied',
  'webhook-removed',
  'webhook-added',
  'ca-bundle',
  'webhook-changed',
  'metadata',
] as const;
type Drift = (typeof drifts)[number];

export interface Difference {
  readonly drift: Drift;
  /** Empty when the difference concerns the whole configuration. */
  readonly webhook: string;
  readonly fields: readonly string[];
}

/** The result contains no values. The order of the webhooks does not matter. */
export function differences(stored: KubeObject | undefined, wanted: KubeObject): readonly Difference[] {
  if (stored === undefined) return [{ drift: 'deleted', webhook: '', fields: [] }];
  const [before, after] = [webhooksByName(stored), webhooksByName(wanted)];
  const fields = metadataFields.filter((field) => !holds(stored.metadata[field], wanted.metadata[field]));
  return [
    ...(fields.length === 0 ? [] : [{ drift: 'metadata', webhook: '', fields } as const]),
    ...finalizerDifferences(stored),
    ...(before.size === 0
      ? [{ drift: 'emptied', webhook: '', fields: [] } as const]
      : [...after].flatMap(([name, webhook]) => webhookDifferences(name, before.get(name), webhook))),
    ...[...before.keys()]
      .filter((name) => !after.has(name))
      .map((webhook) => ({ drift: 'webhook-added', webhook, fields: [] }) as const),
  ];
}

/**
 * Reeve never writes finalizers. A finalizer would keep the configuration after an uninstall, and API servers would
 * still call the webhooks.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
 */
export function finalizerDifferences({ metadata: { finalizers } }: KubeObject): readonly Difference[] {
  const isHeld = Array.isArray(finalizers) && finalizers.length > 0;
  return isHeld ? [{ drift: 'metadata', webhook: '', fields: ['finalizers'] }] : [];
}

/** `namespaces.validate.reeve.dev: rules, failurePolicy` */
export function differenceText({ drift, webhook, fields }: Difference): string {
  const what = fields.length === 0 ? drift : fields.join(', ');
  return webhook === '' ? what : `${webhook}: ${what}`;
}

const metadataFields = ['labels', 'annotations', 'ownerReferences'] as const;

/** Others may add labels and annotations. One more ownerReference would keep the configuration after an uninstall. */
function holds(stored: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return hasSameText(stored, wanted);
  return Object.entries(isJsonObject(wanted) ? wanted : {}).every(
    ([key, value]) => ownMember(stored, key) === value,
  );
}

function webhooksByName({ webhooks }: KubeObject): ReadonlyMap<string, JsonObject> {
  const entries = Array.isArray(webhooks) ? webhooks.filter(isJsonObject) : [];
  return new Map(entries.map((webhook) => [String(webhook['name']), webhook]));
}

function webhookDifferences(
  webhook: string,
  stored: JsonObject | undefined,
  wanted: JsonObject,
): readonly Difference[] {
  if (stored === undefined) return [{ drift: 'webhook-removed', webhook, fields: [] }];
  const fields = differingFields(stored, wanted).flatMap((field) =>
    field === 'clientConfig'
      ? differingFields(stored[field], wanted[field]).map((part) => `clientConfig.${part}`)
      : [field],
  );
  const [bundle, others] = [fields.filter(isBundle), fields.filter((field) => !isBundle(field))];
  return [
    ...(bundle.length === 0 ? [] : [{ drift: 'ca-bundle', webhook, fields: bundle } as const]),
    ...(others.length === 0 ? [] : [{ drift: 'webhook-changed', webhook, fields: others } as const]),
  ];
}

function isBundle(field: string): boolean {
  return field === 'clientConfig.caBundle';
}

function differingFields(stored: unknown, wanted: unknown): readonly string[] {
  const [before, after] = [stored, wanted].map((value) => (isJsonObject(value) ? value : {}));
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].filter((name) => !hasSameText(ownMember(before, name), ownMember(after, name)));
}

function hasSameText(stored: unknown, wanted: unknown): boolean {
  return canonicalText(stored) === canonicalText(wanted);
}

// Seals a webhook configuration with a hash, so that a later run of the program sees whether others changed it.

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
function canonicalText(value: unknown): string {
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
