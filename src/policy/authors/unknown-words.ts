// Finds the first label or name of a match that no namespace has, and the word that was probably meant.
import type { LabelSelector, MatchSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { labelsOf, nameOf } from '../../base/metadata.ts';
import { nearestWord } from '../../base/nearest.ts';
import type { Path } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { isManaged } from '../desired/desired.ts';

interface UnknownWord {
  /** From the match. */
  readonly path: Path;
  readonly message: string;
}

/** Returns the first label or name that no namespace has. */
export function unknownWord(
  { namespaceSelector, names = [] }: MatchSpec,
  snapshot: ClusterSnapshot,
): UnknownWord | undefined {
  const known = knownWords(snapshot);
  for (const { key, values, at } of neededLabels(namespaceSelector)) {
    const path = ['namespaceSelector', ...at];
    const knownValues = known.labels.get(key);
    if (knownValues === undefined)
      return { path, message: `no namespace has the label ${key}${suggestion(key, known.labels.keys())}` };
    const [value] = values;
    if (value !== undefined && !values.some((each) => knownValues.has(each))) {
      const near = suggestion(value, knownValues, `${key}=`);
      return { path, message: `no namespace has the label ${key}=${value}${near}` };
    }
  }
  const [name] = names;
  const isNamed = name !== undefined && !names.some((each) => each.includes('*') || known.names.has(each));
  if (!isNamed) return undefined;
  return { path: ['names', 0], message: `there is no namespace ${name}${suggestion(name, known.names)}` };
}

interface NeededLabel {
  readonly key: string;
  /** One of these. Empty: any value. */
  readonly values: readonly string[];
  /** Where the selector says so. */
  readonly at: Path;
}

export function neededLabels({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector = {}): readonly NeededLabel[] {
  return [
    ...Object.entries(matchLabels).map(([key, value]) => ({
      key,
      values: [value],
      at: ['matchLabels', key],
    })),
    ...matchExpressions
      .map((each, index) => ({ ...each, at: ['matchExpressions', index] }))
      .filter(({ operator }) => operator === 'In' || operator === 'Exists')
      .map(({ key, values = [], at }) => ({ key, values, at })),
  ];
}

interface KnownWords {
  readonly names: ReadonlySet<string>;
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
}

function knownWords(snapshot: ClusterSnapshot): KnownWords {
  const names = new Set<string>();
  const labels = new Map<string, Set<string>>();
  for (const namespaceObject of snapshot.namespaces()) {
    if (!isManaged(namespaceObject, snapshot)) continue;
    names.add(nameOf(namespaceObject));
    for (const [key, value] of Object.entries(labelsOf(namespaceObject))) {
      const values = labels.get(key);
      if (values === undefined) labels.set(key, new Set([value]));
      else values.add(value);
    }
  }
  return { names, labels };
}

function suggestion(word: string, known: Iterable<string>, prefix = ''): string {
  const near = nearestWord(word, known);
  return near === undefined ? '' : ` (did you mean ${prefix}${clipped(near)}?)`;
}
