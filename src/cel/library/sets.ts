// Lists compared as sets: https://github.com/google/cel-go/blob/v0.26.0/ext/README.md#sets
import { BOOL, listType, typeParameter } from '../types/type.ts';
import { areEqual } from '../values/equality.ts';
import { OVER_BUDGET } from '../values/evaluation-error.ts';
import type { Meter } from '../values/meter.ts';
import { adapt, type Value } from '../values/value.ts';
import { defineFunction, type FunctionDefinition } from './define.ts';

type List = readonly unknown[];

const LIST = listType(typeParameter('T'));

export const setFunctions: readonly FunctionDefinition[] = [
  defineFunction('sets.contains', [LIST, LIST], BOOL, (list, part, meter) =>
    comparing(list, part, meter, () => hasAll(list, part, meter)),
  ),
  defineFunction('sets.equivalent', [LIST, LIST], BOOL, (a, b, meter) =>
    comparing(a, b, meter, () => hasAll(a, b, meter) && hasAll(b, a, meter)),
  ),
  defineFunction('sets.intersects', [LIST, LIST], BOOL, (a, b, meter) =>
    comparing(a, b, meter, () => a.some((element) => has(b, adapt(element), meter))),
  ),
];

/** At worst every element is compared with every other. */
function comparing(a: List, b: List, meter: Meter, compare: () => boolean): Value {
  return meter.spend(a.length * b.length) ? compare() : OVER_BUDGET;
}

function hasAll(list: List, part: List, meter: Meter): boolean {
  return part.every((element) => has(list, adapt(element), meter));
}

function has(list: List, element: Value, meter: Meter): boolean {
  return list.some((other) => areEqual(adapt(other), element, meter) === true);
}
