// Reads label selectors as text, as kubectl, queries of the API and annotations have them.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#list-and-watch-filtering
import type { LabelRequirement } from './intents/joined-selector.ts';
import { qualifiedNamePattern, subdomainPattern } from '../schema/kubernetes-names.ts';

const key = `(?<key>(?:${subdomainPattern}/)?${qualifiedNamePattern})`;
const value = `(?:${qualifiedNamePattern})?`;
const comparison = `(?<operator>!=|==?)(?<values>${value})`;
const membership = ` (?<operator>in|notin)\\((?<values>${value}(?:,${value})*)\\)`;
const requirement = new RegExp(`^(?:(?<not>!)${key}|${key}(?:${comparison}|${membership})?)$`);

/** Returns the part that is no requirement if there is one. Reads no comparisons of numbers, which few API servers have. */
export function parseSelectorText(text: string): readonly LabelRequirement[] | string {
  const spaced = text.replaceAll(/\s+/g, ' ').trim();
  // Commas inside brackets separate values.
  const parts = spaced.replaceAll(/ ?([!=,()]) ?/g, '$1').match(/(?:\([^()]*\)|[^,])+/g) ?? [];
  return parts.find((part) => !requirement.test(part)) ?? parts.flatMap(requirementIn);
}

function requirementIn(part: string): readonly LabelRequirement[] {
  const { key: label, not, operator, values } = requirement.exec(part)?.groups ?? {};
  if (label === undefined) return [];
  if (values === undefined) return [{ key: label, operator: not === undefined ? 'Exists' : 'DoesNotExist' }];
  const isNegative = operator === '!=' || operator === 'notin';
  return [{ key: label, operator: isNegative ? 'NotIn' : 'In', values: values.split(',') }];
}
