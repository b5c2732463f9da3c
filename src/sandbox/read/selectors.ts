// Compiles the labelSelector and the fieldSelector of a request to a filter.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#list-and-watch-filtering
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { qualifiedNamePattern, subdomainPattern } from '../../api/kubernetes-names.ts';
import { badRequestError, groupResource } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';
import type { Resource } from '../resource.ts';

export type ObjectFilter = (object: KubeObject) => boolean;

/** For lists, watches and the deletion of collections. Throws an ApiError. */
export function filterOf({ resource, query }: Pick<ObjectRequest, 'resource' | 'query'>): ObjectFilter {
  const spaced = (query.get('labelSelector') ?? '').replaceAll(/\s+/g, ' ').trim();
  const labels = spaced.replaceAll(/ ?([!=,()]) ?/g, '$1');
  // Commas inside brackets separate values.
  const labelTerms = labels.match(/(?:\([^()]*\)|[^,])+/g) ?? [];
  const fieldTerms = (query.get('fieldSelector') ?? '').match(/[^,]+/g) ?? [];
  const tests = [
    ...labelTerms.map((term) => labelTest(term)),
    ...fieldTerms.map((term) => fieldTest(resource, term)),
  ];
  return (object) => tests.every((holds) => holds(object));
}

const key = `(?<key>(?:${subdomainPattern}/)?${qualifiedNamePattern})`;
const value = `(?:${qualifiedNamePattern})?`;
const comparison = `(?<operator>!=|==?)(?<values>${value})`;
const membership = ` (?<operator>in|notin)\\((?<values>${value}(?:,${value})*)\\)`;
const labelTerm = new RegExp(`^(?:(?<not>!)${key}|${key}(?:${comparison}|${membership})?)$`);

function labelTest(term: string): ObjectFilter {
  const { key: label, not, operator, values } = labelTerm.exec(term)?.groups ?? {};
  if (label === undefined)
    throw badRequestError(
      `unable to parse requirement: found '${term}', expected: a label with in, notin, =, ==, !=`,
    );
  const named = values?.split(',');
  const isPositive = not === undefined && operator !== '!=' && operator !== 'notin';
  return ({ metadata }) => {
    const found = ownMember(metadata.labels, label);
    return (named === undefined ? found !== undefined : named.some((text) => text === found)) === isPositive;
  };
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
