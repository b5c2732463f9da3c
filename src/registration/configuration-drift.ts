// Compares a stored webhook configuration with the wanted one, and names the differences without their values.
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { canonicalText } from './configuration-seal.ts';

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
export type Drift = (typeof drifts)[number];

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
