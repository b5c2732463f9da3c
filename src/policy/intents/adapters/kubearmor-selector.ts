// Says in KubeArmor's terms which Pods a label selector selects, where KubeArmor can say it.
import type { LabelSelector } from '../../../api/namespace-policy/namespace-policy.ts';

/** KubeArmor's matchExpressions look like those of a LabelSelector, but their key is the word `label`. */
interface LabelsExpression {
  readonly key: 'label';
  readonly operator: 'In' | 'NotIn';
  /** As `app=nginx`. */
  readonly values: readonly string[];
}

interface ArmorSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelsExpression[];
}

type SelectedPods =
  { readonly ok: true; readonly selector: ArmorSelector } | { readonly ok: false; readonly why: string };

/** Labels with which KubeArmor selects containers and nodes. */
const ownLabels = 'kubearmor.io/';

/**
 * All matchLabels must hold, and one expression: KubeArmor takes several with In as alternatives, and confuses In with NotIn.
 * https://docs.kubearmor.io/kubearmor/documentation/security_policy_specification#matchexpressions
 */
export function armorSelector(workloads: LabelSelector = {}): SelectedPods {
  const { matchLabels, matchExpressions = [] } = workloads;
  const keys = [...Object.keys(matchLabels ?? {}), ...matchExpressions.map(({ key }) => key)];
  const own = keys.find((key) => key.startsWith(ownLabels));
  if (own !== undefined) return { ok: false, why: `KubeArmor gives the label ${own} a meaning of its own` };
  const bare = matchExpressions.find(({ values = [] }) => values.length === 0);
  if (bare !== undefined) return { ok: false, why: `KubeArmor cannot select by the mere label ${bare.key}` };
  const allowed = matchExpressions.filter(({ operator }) => operator === 'In').map(pairsOf);
  const refused = matchExpressions.filter(({ operator }) => operator === 'NotIn').flatMap(pairsOf);
  if (allowed.length + Math.min(refused.length, 1) > 1)
    return { ok: false, why: 'KubeArmor cannot join several conditions with In, or In with NotIn' };
  const expressions: readonly LabelsExpression[] = [
    ...allowed.map((values) => ({ key: 'label', operator: 'In', values }) as const),
    ...(refused.length === 0 ? [] : [{ key: 'label', operator: 'NotIn', values: refused } as const]),
  ];
  return {
    ok: true,
    selector: {
      ...(matchLabels === undefined ? {} : { matchLabels }),
      ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
    },
  };
}

function pairsOf({
  key,
  values = [],
}: NonNullable<LabelSelector['matchExpressions']>[number]): readonly string[] {
  return values.map((value) => `${key}=${value}`);
}
