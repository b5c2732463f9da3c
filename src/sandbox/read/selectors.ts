// Compiles the labelSelector and the fieldSelector of a request to a filter.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#list-and-watch-filtering
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { labelsOf } from '../../base/metadata.ts';
import { compileSelector } from '../../api/selector.ts';
import { parseSelectorText } from '../../api/selector-text.ts';
import { badRequestError, groupResource } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';
import type { Resource } from '../resource.ts';

export type ObjectFilter = (object: KubeObject) => boolean;

/** For lists, watches and the deletion of collections. Throws an ApiError. */
export function filterOf({ resource, query }: Pick<ObjectRequest, 'resource' | 'query'>): ObjectFilter {
  const labels = parseSelectorText(query.get('labelSelector') ?? '');
  if (typeof labels === 'string')
    throw badRequestError(
      `unable to parse requirement: found '${labels}', expected: a label with in, notin, =, ==, !=`,
    );
  const selector = compileSelector({ matchExpressions: labels });
  const fieldTerms = (query.get('fieldSelector') ?? '').match(/[^,]+/g) ?? [];
  const tests = fieldTerms.map((term) => fieldTest(resource, term));
  return (object) => selector.matches(labelsOf(object)) && tests.every((holds) => holds(object));
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/#list-of-supported-fields */
const commonFields = /^metadata\.(name|namespace)$/;
const ownFields: ReadonlyMap<string, RegExp> = new Map([
  ['namespaces', /^status\.phase$/],
  ['secrets', /^type$/],
  ['events', /^(involvedObject\.\w+|reason|reportingComponent|type)$/],
  ['events.events.k8s.io', /^(regarding\.\w+|reason|reportingController|type)$/],
]);
const fieldTerm = /^(?<field>[^=!]*)(?<operator>!=|==?)(?<wanted>[^\\=]*)$/;

function fieldTest(resource: Resource, term: string): ObjectFilter {
  const { field, operator, wanted } = fieldTerm.exec(term)?.groups ?? {};
  if (field === undefined) throw badRequestError(`invalid selector: '${term}'; can't understand '${term}'`);
  if (!commonFields.test(field) && ownFields.get(groupResource(resource))?.test(field) !== true)
    throw badRequestError(`field label not supported: ${field}`);
  const path = field.split('.');
  // A missing value counts as empty.
  return (object) => ((path.reduce<unknown>(ownMember, object) ?? '') === wanted) === (operator !== '!=');
}
