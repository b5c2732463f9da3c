// Reads fields of unchecked objects.
import { ownMember, type JsonObject } from '../base/json.ts';
import { type KubeObject, keyPath, metadataMap, valueOf, type MetadataField } from '../base/metadata.ts';
import { quoted } from '../base/text.ts';
import type { Comparison } from './rule.ts';

/** Returns the field, or the empty string when it is missing or not a string. */
export function stringField(object: JsonObject, field: string): string {
  const value = ownMember(object, field);
  return typeof value === 'string' ? value : '';
}

export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Returns how an object sets a label or annotation. */
export function comparedKey(
  object: KubeObject | undefined,
  field: MetadataField,
  key: string,
  accepted: string,
): Comparison {
  const value = valueOf(metadataMap(object, field), key);
  return { path: keyPath(field, key), found: value === undefined ? 'nothing' : quoted(value), accepted };
}

export function wordOf(field: MetadataField): string {
  return field === 'labels' ? 'label' : 'annotation';
}

/** Returns the part of an object that sets a label or annotation. Null removes it. */
export function inField(field: MetadataField, key: string, value: string | null): JsonObject {
  return { metadata: { [field]: { [key]: value } } };
}
