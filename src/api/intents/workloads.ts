// The field `workloads` of bindings: its schema, and the one label selector that it means.
import type { Path, Problem } from '../../base/problem.ts';
import { expression } from '../../schema/common-fields.ts';
import { labelSelectorFields } from '../namespace-policy/match.ts';
import type { LabelSelector } from '../namespace-policy/namespace-policy.ts';
import { list, object } from '../../schema/build.ts';
import type { Infer } from '../../schema/schema.ts';
import { joinedSelector } from './joined-selector.ts';
import { requirementsOf } from './workload-cel.ts';

export const workloads = object({
  description:
    'Which Pods of the namespaces the intents apply to, by their labels. All of matchLabels, matchExpressions and cel must hold. Without any of them, the intents apply to all Pods.',
  fields: {
    ...labelSelectorFields('Pod', '{app: shop}'),
    cel: list({
      description:
        'Conditions on the labels in CEL. All must hold. Only what a label selector can express is accepted: ==, !=, in, has(), && and !. As in a selector, != and !(… in …) also hold for a Pod without the label.',
      items: expression(
        'CEL over labels, the labels of the Pod. Example: labels["app"] in ["shop", "cart"] && !has(labels.debug).',
      ),
      maxItems: 16,
    }),
  },
});

export type WorkloadsSpec = Infer<typeof workloads>;

type WorkloadSelector =
  | { readonly ok: true; /** Undefined for all Pods. */ readonly selector: LabelSelector | undefined }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The same Pods give the same selector, however they are written. */
export function workloadSelector(
  given: WorkloadsSpec = {},
  path: Path = ['spec', 'workloads'],
): WorkloadSelector {
  const { matchLabels = {}, matchExpressions = [], cel = [] } = given;
  const outcomes = cel.map((source, index) => requirementsOf(source, [...path, 'cel', index]));
  const problems = outcomes.flatMap((outcome) => (outcome.ok ? [] : outcome.problems));
  if (problems.length > 0) return { ok: false, problems };
  return joinedSelector(
    [
      ...Object.entries(matchLabels).map(([key, value]) => ({
        key,
        operator: 'In' as const,
        values: [value],
      })),
      ...matchExpressions,
      ...outcomes.flatMap((outcome) => (outcome.ok ? outcome.requirements : [])),
    ],
    path,
  );
}
