// Defines the kinds of Reeve. The API serves them while their CustomResourceDefinitions are stored.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
import { namespacePolicyCrd, secretShareCrd } from '../../api/crd.ts';
import { category, group, version } from '../../api/names.ts';
import { namespacePolicySchemas } from '../../api/namespace-policy/namespace-policy.ts';
import { namespacePolicyColumns } from '../../api/namespace-policy/status.ts';
import type { PrintColumn } from '../../api/print-columns.ts';
import type { OpenApi } from '../../api/schema/openapi.ts';
import { valueAt } from '../../api/schema/report.ts';
import { secretShareSchemas } from '../../api/secret-share/secret-share.ts';
import { secretShareColumns } from '../../api/secret-share/status.ts';
import { notServedError } from '../api-error.ts';
import type { Resource } from '../resource.ts';
import { timestamp } from '../write/context.ts';
import { column, itemsAt, textAt } from './column.ts';
import { define } from './define.ts';
import { objectName } from './metadata.ts';
import { anything } from './shape.ts';

type Schemas = typeof namespacePolicySchemas | typeof secretShareSchemas;

export const customKinds: readonly Resource[] = [
  custom(namespacePolicyCrd(), namespacePolicySchemas, namespacePolicyColumns),
  custom(secretShareCrd(), secretShareSchemas, secretShareColumns),
];

function custom({ spec: definition }: OpenApi, schemas: Schemas, columns: readonly PrintColumn[]): Resource {
  return define(group, textAt(definition, 'names', 'kind'), {
    description: schemas.description,
    version,
    plural: textAt(definition, 'names', 'plural'),
    shortNames: itemsAt(definition, 'names', 'shortNames').map(String),
    categories: [category],
    isNamespaced: false,
    isCustom: true,
    subresources: ['status'],
    hasGeneration: true,
    columns: columns.map(({ name, jsonPath, ...rest }) => column(name, jsonPath, rest)),
    name: { ...objectName, maxLength: schemas.name.maxLength },
    needed: { spec: schemas.spec },
    optional: { status: schemas.status },
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
