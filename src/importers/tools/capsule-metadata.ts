// Imports the labels and annotations of a Tenant's namespaces: those that Capsule sets, and those that owners may not set.
// https://github.com/projectcapsule/capsule/blob/main/pkg/tenant/metdata.go
import type { JsonObject } from '../../base/json.ts';
import type { StringMap } from '../../base/metadata.ts';
import { filled, type Reader } from '../reader.ts';
import { both, type NamespaceReach } from '../reach.ts';
import { textWithoutTemplates, namespaceNameTemplate } from '../templates.ts';
import { tenantLabel, tenantTemplates } from './capsule-resources.ts';

const fields = ['labels', 'annotations'] as const;
type Field = (typeof fields)[number];
type Metadata = Readonly<Record<Field, StringMap>>;

interface MetadataRules {
  readonly required?: object;
  readonly defaults?: object;
  readonly validations: readonly object[];
}

/** An item of additionalMetadataList. */
export interface SelectedMetadata {
  readonly from: Reader;
  readonly reach: NamespaceReach;
  readonly metadata: Metadata;
}

/** A rule cannot list longer values. */
const maxValue = 1024;

/** Capsule writes these keys again when an owner changes them, so the rules demand their values. */
export function metadataRules(tenant: string, given: Metadata, patterns?: Metadata): MetadataRules {
  const { write } = tenantTemplates(tenant);
  const writtenMap = (map: StringMap): StringMap =>
    Object.fromEntries(Object.entries(map).map(([key, text]) => [key, String(write(text))]));
  const written: Metadata = {
    labels: writtenMap(given.labels),
    annotations: writtenMap(given.annotations),
  };
  const required = {
    labels: requiredKeys(written.labels, patterns?.labels),
    annotations: requiredKeys(written.annotations, patterns?.annotations),
  };
  const validations = fields.flatMap((field) =>
    Object.entries(written[field])
      .filter(([, text]) => (textWithoutTemplates(text)?.length ?? maxValue + 1) > maxValue)
      .map(([key, text], index) => valueRule(field, key, text, index)),
  );
  return {
    ...filled({ required: filled(required), defaults: filled({ ...written }) }),
    validations,
  };
}

function requiredKeys(written: StringMap, patterns: StringMap = {}): JsonObject {
  const texts = Object.entries(written).map(([key, text]) => [key, textWithoutTemplates(text)] as const);
  const fixed = texts.filter(([, text]) => text !== undefined && text.length <= maxValue);
  const values = new Map(fixed.map(([key, text]) => [key, { values: [text] }]));
  const matching = Object.entries(patterns).map(
    ([key, pattern]) => [key, { pattern, ...values.get(key) }] as const,
  );
  return { ...Object.fromEntries(values), ...Object.fromEntries(matching) };
}

function valueRule(field: Field, key: string, text: string, index: number): object {
  const texts = text.split(namespaceNameTemplate).map((part) => JSON.stringify(part.replaceAll('$${', '${')));
  const parts = texts.flatMap((part, at) => (at === 0 ? [part] : ['object.metadata.name', part]));
  const value = parts.filter((part) => part !== '""').join(' + ');
  const [map, name] = [`object.metadata.${field}`, JSON.stringify(key)];
  return {
    name: `${field}-${index + 1}`,
    expression: `has(${map}) && ${name} in ${map} && ${map}[${name}] == ${value}`,
    message: `the tenant sets the value of ${key}`,
  };
}

/** Returns the items without the keys that an earlier part of the Tenant sets: Capsule overwrites no key. */
export function selectedMetadata(
  items: readonly SelectedMetadata[],
  first: Metadata,
): readonly SelectedMetadata[] {
  return items.map(({ from, reach, metadata }, index) => {
    const earlier = items.slice(0, index).filter((other) => both(other.reach, reach).names?.length !== 0);
    const kept = (field: Field): StringMap =>
      Object.fromEntries(
        Object.entries(metadata[field]).filter(([key, value]) => {
          if (Object.hasOwn(first[field], key)) {
            if (first[field][key] !== value)
              from
                .at(field, key)
                .lose(
                  'additionalMetadata sets another value, which the policy requires in all namespaces of the tenant',
                  'write a policy for these namespaces, and take the key out of the other one',
                );
            return false;
          }
          const others = earlier.flatMap((other) => other.metadata[field][key] ?? []);
          if (others.every((other) => other === value)) return true;
          from
            .at(field, key)
            .lose(
              'an earlier item may select the same namespaces, and sets another value',
              'write a policy for the namespaces that the earlier item leaves',
            );
          return false;
        }),
      );
    return { from, reach, metadata: { labels: kept('labels'), annotations: kept('annotations') } };
  });
}

/** Forbids these keys to owners. Keys that Capsule and Kubernetes set are left out. */
export function forbiddenKeys(options: Reader, managed: Metadata): readonly object[] {
  return fields.flatMap((field) => {
    const list = options.at(field === 'labels' ? 'forbiddenLabels' : 'forbiddenAnnotations');
    const denied = list.at('denied').texts() ?? [];
    const pattern = list.at('deniedRegex').text() ?? '';
    const tests = [
      ...(denied.length === 0 ? [] : [`!(key in ${JSON.stringify(denied)})`]),
      ...(pattern === '' ? [] : [`!key.matches(${JSON.stringify(pattern)})`]),
    ];
    const own = field === 'labels' ? ['kubernetes.io/metadata.name', tenantLabel] : [];
    const free = [...own, ...Object.keys(managed[field])];
    const exempt = free.length === 0 ? '' : `key in ${JSON.stringify(free)} || `;
    const map = `object.metadata.${field}`;
    const all = `${map}.all(key, ${exempt}${tests.join(' && ')})`;
    const rule = { name: `forbidden-${field}`, expression: `!has(${map}) || ${all}` };
    return tests.length === 0 ? [] : [rule];
  });
}
