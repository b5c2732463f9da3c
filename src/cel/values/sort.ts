// Sorts values by keys that have an order and are all of one type.
import { evaluationError } from './evaluation-error.ts';
import { compareValues } from './order.ts';
import { kindOf, type Value } from './value.ts';

const NOT_SORTABLE = evaluationError('only values of one type that has an order can be sorted');

export function sortByKeys(pairs: readonly (readonly [key: Value, value: Value])[]): Value {
  const [first] = pairs;
  if (first === undefined) return [];
  const kind = kindOf(first[0]);
  const isSortable = pairs.every(([key]) => kindOf(key) === kind && compareValues(key, key) !== undefined);
  if (!isSortable) return NOT_SORTABLE;
  return pairs.toSorted(([a], [b]) => compareValues(a, b) ?? 0).map(([, value]) => value);
}
