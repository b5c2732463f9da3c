// Defines the kinds of Reeve. The API serves them while their CustomResourceDefinitions are stored.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
import type { KindDefinition } from '../../api/kind.ts';
import { kindDefinitions } from '../../api/kinds.ts';
import { category, group, version } from '../../schema/names.ts';
import { valueAt } from '../../schema/validate.ts';
import { notServedError } from '../api-error.ts';
import type { Resource } from '../resource.ts';
import { timestamp } from '../write/context.ts';
import { column } from './column.ts';
import { define } from './define.ts';
import { objectName, anything } from './shape.ts';

export const customKinds: readonly Resource[] = kindDefinitions.map(custom);

function custom(definition: KindDefinition): Resource {
  const { kind, plural, shortName, scope, schemas, columns } = definition;
  const { description, name, spec, status } = schemas;
  return define(group, kind, {
    description,
    version,
    plural,
    shortNames: [shortName],
    categories: [category],
    isNamespaced: scope === 'Namespaced',
    isCustom: true,
    subresources: status === undefined ? [] : ['status'],
    hasGeneration: true,
    columns: columns.map(({ name: title, jsonPath, ...rest }) => column(title, jsonPath, rest)),
    name: { ...objectName, maxLength: name.maxLength },
    needed: { spec },
    ...(status === undefined ? {} : { optional: { status } }),
  });
}

export const definitionKind = define('apiextensions.k8s.io', 'CustomResourceDefinition', {
  description: 'Makes the API server serve a kind.',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  isNamespaced: false,
  subresources: ['status'],
  hasGeneration: true,
  needed: { spec: anything },
  optional: { status: anything },
  finish: (object, stored, now) => {
    const found = customKinds.find((kind) => definitionName(kind) === object.metadata.name);
    if (found === undefined)
      throw notServedError('a CustomResourceDefinition of another kind than those of Reeve');
    if (stored !== undefined) return object;
    const lastTransitionTime = timestamp(now);
    const settled = { status: 'True', message: '', lastTransitionTime };
    const conditions = [
      { type: 'NamesAccepted', reason: 'NoConflicts', ...settled },
      { type: 'Established', reason: 'InitialNamesAccepted', ...settled },
    ];
    const acceptedNames = valueAt(object, ['spec', 'names']);
    return { ...object, status: { acceptedNames, conditions, storedVersions: [version] } };
  },
});

/** Returns the name of the CustomResourceDefinition of a kind. */
export function definitionName({ plural, group: ofKind }: Resource): string {
  return `${plural}.${ofKind}`;
}
