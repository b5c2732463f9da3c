// namespaces.quota: limits how many matched namespaces may have the same value of a label, and finds values with more.
import { keyPath, labelsOf, valueOf } from '../base/metadata.ts';
import { clipped, counted, listed, quoted } from '../base/text.ts';
import { integer, object, type Infer } from '../schema/schema.ts';
import { metadataKey } from '../schema/common-fields.ts';
import { comparedKey, inField } from './fields.ts';
import { everyOperation, ruleForm, type Rule, type StepContext } from './rule.ts';

const field = object({
  description:
    'How many matched namespaces there may be for each value of a label. Best effort: simultaneous requests can exceed the quota; the status then reports it. Namespaces that are being deleted do not count.',
  fields: {
    label: metadataKey('The key of the label whose values are counted. Example: team.'),
    max: integer({
      description: 'How many namespaces may have the same value of the label. Example: 10.',
      minimum: 0,
      maximum: 100_000,
    }),
  },
  required: ['label', 'max'],
});

/** More Namespaces would make a suite unreadable. */
const maxOthers = 10;

export type QuotaSpec = Infer<typeof field>;

/** Best effort: two concurrent requests can both pass. The reconciler reports the overshoot. */
export const namespaceQuota = ruleForm({
  id: 'namespaces.quota',
  judges: 'namespaces',
  field,
  operations: everyOperation,
  precedence: 4,
  countsOthers: true,
  compile: quotaRule,
  examples: ({ label, max }) => {
    const filled = inField('labels', label, 'other');
    const others = max > maxOthers ? [] : Array.from({ length: max }, () => filled);
    return { writes: [{ title: `with label ${label} other`, object: filled, others }] };
  },
});

function quotaRule(spec: QuotaSpec): Rule {
  return {
    shape: 'step',
    judge(context) {
      const value = newlyCountedValue(spec, context);
      if (value === undefined) return [];
      if (context.countOthers(spec.label, value, spec.max) < spec.max) return [];
      return [
        {
          ...quotaExcess(spec, value, spec.max + 1),
          message: `${spec.label} ${clipped(value)} already has ${spec.max} of ${spec.max} namespaces`,
          identity: undefined,
        },
      ];
    },
    compared: (written, { object: after }) =>
      after === undefined ? [] : [comparedKey(written, 'labels', spec.label, accepted(spec))],
  };
}

export interface OverQuota {
  readonly value: string;
  /** All namespaces with this value, sorted. */
  readonly names: readonly string[];
}

/** A matched namespace that lives, with the value of the label. Without the label, a namespace does not count. */
export type QuotaMember = readonly [namespace: string, value: string | undefined];

/** Returns the names of the namespaces with each value. */
export function usersByValue(members: Iterable<QuotaMember>): ReadonlyMap<string, string[]> {
  const users = new Map<string, string[]>();
  for (const [namespace, value] of members) {
    if (value === undefined) continue;
    const names = users.get(value);
    if (names === undefined) users.set(value, [namespace]);
    else names.push(namespace);
  }
  return users;
}

/** Returns the values that too many namespaces have, sorted by their first namespace. */
export function exceededBy({ max }: QuotaSpec, members: Iterable<QuotaMember>): readonly OverQuota[] {
  return [...usersByValue(members)]
    .filter(([, names]) => names.length > max)
    .map(([value, names]) => ({ value, names: names.sort() }))
    .sort(({ names: [a = ''] }, { names: [b = ''] }) => (a < b ? -1 : 1));
}

/** Follows the name of the policy. Existing namespaces stay, so the text tells the author that the limit does not hold yet. */
export function overQuotaText({ label, max }: QuotaSpec, over: readonly OverQuota[]): string {
  const values = over.map(({ value, names }) => `${clipped(value)} (${names.length})`);
  return `allows ${counted(max, 'namespace')} for each value of label ${clipped(label)}, and more exist, which stay: ${listed(values)}`;
}

/** Uses the same words for a write that would exceed the quota, and for a status. */
export function quotaExcess(
  { label, max }: QuotaSpec,
  value: string,
  count: number,
): { readonly path: string; readonly found: string; readonly accepted: string } {
  return {
    path: keyPath('labels', label),
    found: `${count} namespaces with ${quoted(value)}`,
    accepted: accepted({ max }),
  };
}

function accepted({ max }: Pick<QuotaSpec, 'max'>): string {
  return `at most ${max} namespaces with one value`;
}

/** Returns the label value for which this write adds the namespace to the count; undefined when it adds none. */
function newlyCountedValue(
  spec: QuotaSpec,
  { review, matchesNew, hasGrace }: StepContext,
): string | undefined {
  if (!matchesNew || review.object === undefined) return undefined;
  const value = valueOf(labelsOf(review.object), spec.label);
  const before = hasGrace ? valueOf(labelsOf(review.oldObject), spec.label) : undefined;
  return value === before ? undefined : value;
}
