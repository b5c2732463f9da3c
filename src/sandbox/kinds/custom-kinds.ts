// Defines custom kinds, which the caller gives. The API serves a custom kind while its CustomResourceDefinition is stored.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
import { category, group, version } from '../../schema/names.ts';
import { valueAt } from '../../schema/validate.ts';
import { notServedError } from '../api-error.ts';
import type { Column, Resource } from '../resource.ts';
import { timestamp } from '../write/context.ts';
import type { ObjectSchema, TextSchema } from '../../schema/schema.ts';
import { column } from './column.ts';
import { define } from './define.ts';
import { objectName, anything } from './shape.ts';

/** What a CustomResourceDefinition says of a kind, with schemas in place of their text. */
export interface CustomKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly schemas: {
    readonly description: string;
    readonly name: TextSchema;
    readonly spec: ObjectSchema;
    readonly status?: ObjectSchema;
  };
  readonly columns: readonly (Pick<Column, 'name' | 'type' | 'description'> &
    Partial<Pick<Column, 'priority'>> & { readonly jsonPath: string })[];
}

export function customResource(definition: CustomKind): Resource {
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

/** Refuses definitions of all kinds but the given ones. */
export const definitionKindOf = (kinds: readonly Resource[]): Resource =>
  define('apiextensions.k8s.io', 'CustomResourceDefinition', {
    description: 'Makes the API server serve a kind.',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    isNamespaced: false,
    subresources: ['status'],
    hasGeneration: true,
    needed: { spec: anything },
    optional: { status: anything },
    finish: (object, stored, now) => {
      const found = kinds.find((kind) => definitionName(kind) === object.metadata.name);
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
