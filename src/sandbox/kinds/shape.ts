// Offers short functions for the schemas of the kinds of Kubernetes.
import {
  boolean,
  choice,
  integer,
  list,
  map,
  text,
  type Fields,
  type Infer,
  type ObjectSchema,
  type SchemaRule,
  type Schema,
  type TextSchema,
} from '../../schema/schema.ts';
import { isDeepStrictEqual } from 'node:util';
import { labelValue, metadataKey } from '../../schema/common-fields.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { subdomainPattern } from '../../base/kubernetes-names.ts';
import { valueAt } from '../../schema/validate.ts';
import type { StatusCause } from '../api-error.ts';
import { cause } from './causes.ts';
import { itemsAt } from './column.ts';

/** Larger values are refused by the limit of a request, or by a rule of the kind. */
const maxLength = 8 * 1024 * 1024;
const [maxItems, maxProperties] = [maxLength, maxLength];
const description = '';

export const anyText = text({ description, maxLength });
export const someText = text({ description, maxLength, minLength: 1 });
export const flag = boolean(description);
export const oneOf = (...values: readonly string[]) => choice(description, values);
export const whole = (minimum = 0, maximum = 2 ** 31 - 1) => integer({ description, minimum, maximum });
export const several = (items: Schema) => list({ description, items, maxItems });
export const some = (items: Schema) => list({ description, items, maxItems, minItems: 1 });
/** A key identifies the items, in validation and in merges. */
export const severalBy = (key: string, items: Schema) => ({ ...several(items), unique: { key } });
export const textMap = (keys: TextSchema, values: TextSchema) =>
  map({ description, keys, values, maxProperties });

/** A needed field with a default may be left out. */
export function fields(needed: Fields, optional: Fields = {}): ObjectSchema {
  const required = Object.keys(needed).filter((name) => needed[name]?.defaultValue === undefined);
  return { kind: 'object', description, fields: { ...needed, ...optional }, required, open: false };
}

/** Keeps fields that are not listed here. */
export const open = (known: Fields): ObjectSchema => ({ ...fields({}, known), open: true });
export const anything = open({});
export const texts = several(anyText);

/** `offender` returns the path, below the value, of the part that breaks the rule. */
export function ruled<S extends Schema>(
  schema: S,
  accepted: string,
  offender: SchemaRule<Infer<S>>['offender'],
): S {
  const rule: SchemaRule<Infer<S>> = { accepted, offender };
  return { ...schema, rules: [rule] };
}

// Defines the schema of metadata, and the fields of an object that no update changes.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/

const accepted = "lower case alphanumeric characters, '-' or '.' (RFC 1123 subdomain)";
export const objectName = text({
  description: '',
  maxLength: 253,
  pattern: `^${subdomainPattern}$`,
  accepted,
});

const key = metadataKey('');
const owner = { apiVersion: someText, kind: someText, name: someText, uid: someText };
const names = { generateName: anyText, namespace: anyText, selfLink: anyText, uid: anyText };
const times = { creationTimestamp: anyText, deletionTimestamp: anyText, resourceVersion: anyText };
const numbers = { generation: whole(), deletionGracePeriodSeconds: whole() };
const rest = {
  labels: textMap(key, labelValue('')),
  annotations: textMap(key, anyText),
  ownerReferences: severalBy('uid', fields(owner, { controller: flag, blockOwnerDeletion: flag })),
  finalizers: { ...several(key), unique: 'set' as const },
  managedFields: several(anything),
};

export function metadataSchema(name: TextSchema): ObjectSchema {
  return fields({}, { name, ...names, ...times, ...numbers, ...rest });
}

/** Returns a cause for each change of a fixed field: the name, the given fields, immutable data, new finalizers. */
export function changeCauses(
  object: KubeObject,
  stored: KubeObject,
  unchanging: readonly string[],
): readonly StatusCause[] {
  const isChanged = (field: string): boolean => {
    const path = field.split('.');
    return !isDeepStrictEqual(valueAt(object, path) ?? {}, valueAt(stored, path) ?? {});
  };
  const changed = ['metadata.name', 'metadata.namespace', ...unchanging].filter(isChanged);
  const frozen = stored['immutable'] === true ? ['immutable', 'data', 'binaryData'].filter(isChanged) : [];
  const known = itemsAt(stored.metadata, 'finalizers');
  const late = itemsAt(object.metadata, 'finalizers').filter(
    (name) => stored.metadata.deletionTimestamp !== undefined && !known.includes(name),
  );
  const whyNotLate = 'no new finalizers can be added if the object is being deleted';
  return [
    ...changed.map((field) => cause('Invalid', field, `cannot change ${field}`, 'field is immutable')),
    ...frozen.map((field) => cause('Forbidden', field, 'field is immutable when `immutable` is set')),
    ...late.map((name) => cause('Forbidden', 'metadata.finalizers', whyNotLate, JSON.stringify(name))),
  ];
}
