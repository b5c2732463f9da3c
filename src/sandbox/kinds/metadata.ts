// Defines the schema of metadata, and the fields of an object that no update changes.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
import { isDeepStrictEqual } from 'node:util';
import { labelValue, metadataKey } from '../../schema/common-fields.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { subdomainPattern } from '../../schema/kubernetes-names.ts';
import { text } from '../../schema/build.ts';
import { valueAt } from '../../schema/report.ts';
import type { ObjectSchema, TextSchema } from '../../schema/schema.ts';
import type { StatusCause } from '../api-error.ts';
import { cause } from './causes.ts';
import { itemsAt } from './column.ts';
import { anything, anyText, fields, flag, textMap, several, severalBy, someText, whole } from './shape.ts';

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
