// Finds how the expectations of a test must change to be the answers of today.
import { ownMember } from '../../base/json.ts';
import type { Path } from '../../base/problem.ts';
import { exactPattern, isSameName, type Mismatch } from './expectations.ts';
import type { Outcome } from './outcome.ts';
import { objectNameOf } from './provided-objects.ts';
import type { Expectations } from './suite.ts';

interface Update {
  /** In the test. */
  readonly path: Path;
  /** Undefined removes the expectation. */
  readonly value: unknown;
}

/** Returns the updates in order. Later items of a list are removed first, so that earlier items keep their places. */
export function updatesOf(
  expect: Expectations,
  mismatches: readonly Mismatch[],
  outcome: Outcome,
): readonly Update[] {
  const updates = [
    ...mismatches.flatMap((mismatch) => updateOf(mismatch, expect, outcome)),
    ...listUpdates('contents', expect, outcome.provided?.objects.map(objectNameOf)),
    ...listUpdates(
      'violations',
      expect,
      outcome.violations?.map(({ rule }) => rule),
    ),
  ];
  const removed = updates.filter(({ value }) => value === undefined);
  const { verdict } = outcome;
  // A test without any expectation is not valid.
  const isEmpty = removed.some(({ path }) => path.length === 2) && expect.verdict === undefined;
  return [
    ...updates.filter(({ value }) => value !== undefined),
    ...(isEmpty && verdict !== undefined ? [{ path: ['expect', 'verdict'], value: verdict }] : []),
    ...removed.toReversed(),
  ];
}

/** The answer to each expectation of a request. Undefined if Reeve gave none. */
const answers: Readonly<Record<string, (outcome: Outcome) => unknown>> = {
  verdict: ({ verdict }) => verdict,
  warnings: ({ warnings }) => warnings.length,
  rule: ({ rules }) => rules[0]?.rule,
  message: ({ message }) => (message === '' ? undefined : exactPattern(message)),
};
const ofNamespace = ['contents', 'includes', 'absent', 'provided'] as const;

function updateOf({ path }: Mismatch, expect: Expectations, outcome: Outcome): readonly Update[] {
  const [, key = ''] = path;
  const answer = answers[key];
  if (answer !== undefined) return [{ path, value: answer(outcome) }];
  if (key === 'object') return [{ path, value: memberAt(outcome.object, path.slice(2)) ?? null }];
  const { provided } = outcome;
  if (key !== 'violations' && provided === undefined)
    return ofNamespace.flatMap((each) =>
      expect[each] === undefined ? [] : [{ path: ['expect', each], value: undefined }],
    );
  return key === 'contents' || key === 'violations' ? [] : [itemUpdate(path, expect, provided)];
}

/** Removes an item that is missing or unwanted. A field that differs gets the value of today. */
function itemUpdate(path: Path, expect: Expectations, provided: Outcome['provided']): Update {
  const [, , item, ...rest] = path;
  if (rest.length === 0) return { path, value: undefined };
  const wanted = expect.provided?.[Number(item)];
  const found = provided?.objects.find((each) => wanted !== undefined && isSameName(each, wanted));
  return { path, value: memberAt(found, rest) ?? null };
}

function memberAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(ownMember, value);
}

/** A new item takes the place of one that is removed, as long as there are both. */
function listUpdates(
  key: 'contents' | 'violations',
  { [key]: expected }: Expectations,
  found: readonly string[] | undefined,
): readonly Update[] {
  if (expected === undefined || found === undefined) return [];
  const added = [...new Set(found)].filter((each) => !expected.includes(each));
  const gone = expected.flatMap((each, index) => (found.includes(each) ? [] : [index]));
  const places = [...gone, ...added.slice(gone.length).map((_, index) => expected.length + index)];
  return places.map((place, index) => ({ path: ['expect', key, place], value: added[index] }));
}
