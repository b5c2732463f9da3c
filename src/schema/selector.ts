// Defines label selectors of Kubernetes: their fields, as functions on a map of labels, and as text.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#resources-that-support-set-based-requirements
import { choice, list, object, type Infer } from './schema.ts';
import { labelValue, metadataKey, metadataMapOf } from './common-fields.ts';
import { type StringMap, valueOf } from '../base/metadata.ts';
import { qualifiedNamePattern, subdomainPattern } from '../base/kubernetes-names.ts';

/** The objects that a selector selects. */
type Selected = 'namespace' | 'Pod';

function labelRequirement(selected: Selected) {
  return object({
    description: `One requirement on a label of the ${selected}.`,
    fields: {
      key: metadataKey('The label key that the requirement looks at.'),
      operator: choice(
        'How the label must relate to the values. In: its value is one of them. NotIn: its value is none of them, or the label is missing. Exists: the label is present, with any value. DoesNotExist: the label is missing.',
        ['In', 'NotIn', 'Exists', 'DoesNotExist'],
      ),
      values: list({
        description: 'The values for In and NotIn: at least one. Not allowed for Exists and DoesNotExist.',
        items: labelValue('A label value.'),
        maxItems: 100,
      }),
    },
    required: ['key', 'operator'],
    rules: [
      {
        accepted: 'at least one value for In and NotIn, and none for Exists and DoesNotExist',
        must: 'have',
        cel: "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
        offender: ({ operator, values = [] }) =>
          ['In', 'NotIn'].includes(operator) === values.length > 0 ? undefined : ['values'],
      },
    ],
  });
}

export function labelSelectorFields(selected: Selected, example: string) {
  return {
    matchLabels: metadataMapOf(
      `Labels that the ${selected} must carry with exactly these values. Example: ${example}.`,
      labelValue('The value that the label must have.'),
    ),
    matchExpressions: list({
      description: 'Requirements on labels. All must hold.',
      items: labelRequirement(selected),
      maxItems: 32,
    }),
  };
}

export const labelSelector = object({
  description:
    'Selects namespaces by their labels, as everywhere in Kubernetes. All of matchLabels and matchExpressions must hold; {} selects every namespace.',
  fields: labelSelectorFields('namespace', '{tier: team}'),
});

export type LabelSelector = Infer<typeof labelSelector>;
export type LabelRequirement = NonNullable<LabelSelector['matchExpressions']>[number];

// Compiles label selectors.

export interface Selector {
  matches(labels: StringMap): boolean;
  /** The label keys that the selector tests. */
  readonly keys: ReadonlySet<string>;
  readonly requirements: readonly Requirement[];
  /** The selector matches only labels with one of these. Undefined if it can match without any label. */
  readonly needs: SelectorNeed | undefined;
}

type SelectorNeed =
  | { readonly kind: 'pairs'; readonly key: string; readonly values: readonly string[] }
  | { readonly kind: 'key'; readonly key: string };

interface Requirement {
  readonly key: string;
  /** The values that the requirement names. */
  readonly values: readonly string[];
  readonly holds: (value: string | undefined) => boolean;
  readonly need: SelectorNeed | undefined;
}

export function compileSelector(selector: LabelSelector): Selector {
  const requirements = [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => oneOf(key, [value])),
    ...(selector.matchExpressions ?? []).map(requirementOf),
  ];
  const needs = requirements.map(({ need }) => need).filter((need) => need !== undefined);
  return {
    matches: (labels) => requirements.every(({ key, holds }) => holds(valueOf(labels, key))),
    keys: new Set(requirements.map(({ key }) => key)),
    requirements,
    needs: needs.find(({ kind }) => kind === 'pairs') ?? needs[0],
  };
}

/** Returns whether some labels satisfy both selectors. */
export function canBothSelect(a: Selector, b: Selector): boolean {
  const all = Map.groupBy([...a.requirements, ...b.requirements], ({ key }) => key);
  return [...all.values()].every((requirements) => {
    const named = requirements.flatMap(({ values }) => values);
    // This text is longer than all named values, so it stands for any value that no requirement names.
    const other = `${named.join('')}x`;
    return [undefined, other, ...named].some((value) => requirements.every(({ holds }) => holds(value)));
  });
}

function requirementOf(expression: LabelRequirement): Requirement {
  const { key, operator } = expression;
  const values = expression.values ?? [];
  switch (operator) {
    case 'In':
      return oneOf(key, values);
    case 'NotIn':
      return {
        key,
        values,
        holds: (value) => value === undefined || !values.includes(value),
        need: undefined,
      };
    case 'Exists':
      return { key, values: [], holds: (value) => value !== undefined, need: { kind: 'key', key } };
    case 'DoesNotExist':
      return { key, values: [], holds: (value) => value === undefined, need: undefined };
    default:
      return operator satisfies never;
  }
}

function oneOf(key: string, values: readonly string[]): Requirement {
  return {
    key,
    values,
    holds: (value) => value !== undefined && values.includes(value),
    need: { kind: 'pairs', key, values },
  };
}

// Reads label selectors as text, as kubectl, queries of the API and annotations have them.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#list-and-watch-filtering

const key = `(?<key>(?:${subdomainPattern}/)?${qualifiedNamePattern})`;
const value = `(?:${qualifiedNamePattern})?`;
const comparison = `(?<operator>!=|==?)(?<values>${value})`;
const membership = ` (?<operator>in|notin)\\((?<values>${value}(?:,${value})*)\\)`;
const requirement = new RegExp(`^(?:(?<not>!)${key}|${key}(?:${comparison}|${membership})?)$`);

/** Returns the requirements, or the part that is none. Reads no comparisons of numbers, which few API servers have. */
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
