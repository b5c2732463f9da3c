// Joins requirements on labels to one label selector, in one form for each meaning.
import type { LabelRequirement, LabelSelector } from '../../schema/selector.ts';
import type { Path, Problem } from '../../base/problem.ts';

type JoinedSelector =
  | { readonly ok: true; readonly selector: LabelSelector | undefined }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Uses matchLabels if possible, because some engines know nothing else. */
export function joinedSelector(requirements: readonly LabelRequirement[], path: Path): JoinedSelector {
  const keys = [...new Set(requirements.map(({ key }) => key))].toSorted();
  const joined = keys.map((key) =>
    joinedOf(
      key,
      requirements.filter((each) => each.key === key),
    ),
  );
  const problems = joined.flatMap((each, index) =>
    each === undefined ? [contradiction(keys[index], path)] : [],
  );
  if (problems.length > 0) return { ok: false, problems };
  const all = joined.flatMap((each) => each ?? []);
  const labels = all.flatMap(({ key, operator, values: [value, ...more] = [] }) =>
    operator === 'In' && value !== undefined && more.length === 0 ? [[key, value] as const] : [],
  );
  const expressions = all.filter(({ operator, values }) => operator !== 'In' || values?.length !== 1);
  if (all.length === 0) return { ok: true, selector: undefined };
  return {
    ok: true,
    selector: {
      ...(labels.length === 0 ? {} : { matchLabels: Object.fromEntries(labels) }),
      ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
    },
  };
}

function contradiction(key: string | undefined, path: Path): Problem {
  return {
    path,
    found: `conditions on label "${key ?? ''}" that no Pod can meet`,
    accepted: 'conditions that a Pod can meet',
  };
}

/** Returns undefined if no labels meet all of them. */
function joinedOf(
  key: string,
  requirements: readonly LabelRequirement[],
): readonly LabelRequirement[] | undefined {
  const valuesOf = (operator: string): readonly (readonly string[])[] =>
    requirements.filter((each) => each.operator === operator).map(({ values = [] }) => values);
  const mustExist = valuesOf('Exists').length > 0;
  const mustMiss = valuesOf('DoesNotExist').length > 0;
  const [first, ...others] = valuesOf('In');
  const excluded = [...new Set(valuesOf('NotIn').flat())].toSorted();
  if (first !== undefined) {
    const common = first.filter((value) => others.every((values) => values.includes(value)));
    const allowed = [...new Set(common)].filter((value) => !excluded.includes(value)).toSorted();
    return mustMiss || allowed.length === 0 ? undefined : [{ key, operator: 'In', values: allowed }];
  }
  if (mustMiss) return mustExist ? undefined : [{ key, operator: 'DoesNotExist' }];
  return [
    ...(mustExist ? [{ key, operator: 'Exists' } as const] : []),
    ...(excluded.length === 0 ? [] : [{ key, operator: 'NotIn', values: excluded } as const]),
  ];
}
