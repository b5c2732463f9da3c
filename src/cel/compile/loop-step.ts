// Runs the macros that go through a list or map.
import type { LoopForm } from '../syntax/ast.ts';
import {
  evaluationError,
  EvaluationError,
  NO_OVERLOAD,
  NOT_BOOL,
  OVER_BUDGET,
  adapt,
  type Value,
  CelMap,
  findKey,
  isMap,
  keysOf,
} from '../values/value.ts';
import type { Frame, EvaluationStep } from './compilation.ts';
import { sortByKeys } from '../values/equality.ts';

interface Parts {
  readonly condition: EvaluationStep | undefined;
  readonly body: EvaluationStep;
}

/** Collects the results of the body of a macro. */
interface Gathering {
  /** Takes one result and returns true when no more are needed. `first` is the first variable, for maps. */
  take(result: Value, first: Value): boolean;
  finish(): Value;
}

const NOT_A_RANGE = evaluationError('macros work on lists and maps only, and sortBy on lists');

export function loopStep(
  form: LoopForm,
  range: EvaluationStep,
  slots: readonly number[],
  parts: Parts,
): EvaluationStep {
  const rounds = form === 'sortBy' ? elementsOf : slots.length === 2 ? pairsOf : singlesOf;
  const [firstSlot = 0, secondSlot = firstSlot] = slots;
  return (frame) => {
    const container = range(frame);
    if (container instanceof EvaluationError) return container;
    const round = rounds(container);
    if (round === undefined) return NOT_A_RANGE;
    // Listing the keys of a map takes time, even when the first key decides.
    if (!Array.isArray(container)) frame.meter.spend(round.size);
    const gathering = gather(form);
    for (let index = 0; index < round.size; index += 1) {
      if (!frame.meter.spend(1) || frame.meter.exhausted) return OVER_BUDGET;
      const first = round.first(index);
      frame.slots[firstSlot] = first;
      if (round.second !== undefined) frame.slots[secondSlot] = round.second(index);
      const kept = isKept(parts.condition, frame);
      if (kept instanceof EvaluationError) return kept;
      if (kept && gathering.take(parts.body(frame), first)) break;
    }
    return gathering.finish();
  };
}

interface Rounds {
  readonly size: number;
  first(index: number): Value;
  readonly second?: (index: number) => Value;
}

function elementsOf(container: Value): Rounds | undefined {
  if (!Array.isArray(container)) return undefined;
  return { size: container.length, first: (index) => adapt(container[index]) };
}

function singlesOf(container: Value): Rounds | undefined {
  if (!isMap(container)) return elementsOf(container);
  const keys = keysOf(container);
  return { size: keys.length, first: (index) => keys[index] };
}

function pairsOf(container: Value): Rounds | undefined {
  if (Array.isArray(container)) {
    return { size: container.length, first: BigInt, second: (index) => adapt(container[index]) };
  }
  if (!isMap(container)) return undefined;
  const keys = keysOf(container);
  return {
    size: keys.length,
    first: (index) => keys[index],
    second: (index) => findKey(container, keys[index]),
  };
}

function isKept(condition: EvaluationStep | undefined, frame: Frame): boolean | EvaluationError {
  const value = condition === undefined ? true : condition(frame);
  if (typeof value === 'boolean' || value instanceof EvaluationError) return value;
  return NOT_BOOL;
}

function gather(form: LoopForm): Gathering {
  switch (form) {
    case 'all':
      return quantifier(false);
    case 'exists':
      return quantifier(true);
    case 'exists_one':
      return counter();
    case 'filter':
      return filtered();
    case 'map':
    case 'transformList':
      return listed();
    case 'transformMap':
      return mapped();
    case 'transformMapEntry':
      return entered();
    case 'sortBy':
      return sorted();
    default:
      return form satisfies never;
  }
}

/** One decisive result is enough, even when others are errors. */
function quantifier(decisive: boolean): Gathering {
  let outcome: Value = !decisive;
  return {
    take(result) {
      if (result === decisive) outcome = decisive;
      else if (result !== !decisive && !(outcome instanceof EvaluationError)) outcome = asError(result);
      return result === decisive;
    },
    finish: () => outcome,
  };
}

function asError(result: Value): EvaluationError {
  return result instanceof EvaluationError ? result : NOT_BOOL;
}

function counter(): Gathering {
  let count = 0;
  let error: EvaluationError | undefined;
  return {
    take(result) {
      if (typeof result !== 'boolean') error = asError(result);
      else if (result) count += 1;
      return error !== undefined;
    },
    finish: () => error ?? count === 1,
  };
}

/** Collects results. The first error is the result of the macro. */
function collecting<T>(
  accept: (result: Value, first: Value) => T | EvaluationError | undefined,
  finish: (all: T[]) => Value,
): Gathering {
  const all: T[] = [];
  let error: EvaluationError | undefined;
  return {
    take(result, first) {
      const accepted = result instanceof EvaluationError ? result : accept(result, first);
      if (accepted instanceof EvaluationError) error = accepted;
      else if (accepted !== undefined) all.push(accepted);
      return error !== undefined;
    },
    finish: () => error ?? finish(all),
  };
}

function listed(): Gathering {
  return collecting<{ value: Value }>(
    (value) => ({ value }),
    (all) => all.map(({ value }) => value),
  );
}

function filtered(): Gathering {
  return collecting<{ value: Value }>(
    (result, value) => {
      if (typeof result !== 'boolean') return NOT_BOOL;
      return result ? { value } : undefined;
    },
    (all) => all.map(({ value }) => value),
  );
}

type Pair = readonly [Value, Value];

function mapped(): Gathering {
  return collecting<Pair>(
    (value, key) => [key, value],
    (pairs) => new CelMap(pairs),
  );
}

const DUPLICATE = evaluationError('transformMapEntry makes the same key twice');

function entered(): Gathering {
  return collecting<readonly Pair[]>(
    (entry) => (isMap(entry) ? keysOf(entry).map((key): Pair => [key, findKey(entry, key)]) : NO_OVERLOAD),
    (all) => {
      const map = new CelMap(all.flat());
      return map.entries.size === all.flat().length ? map : DUPLICATE;
    },
  );
}

function sorted(): Gathering {
  return collecting<Pair>((key, value) => [key, value], sortByKeys);
}
