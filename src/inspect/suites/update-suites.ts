// Finds expectations of suites that differ from Reeve's answers of today, and changes their text.
import { renderPath, type Path } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import { editedYaml, type YamlEdit } from '../../base/yaml-edit.ts';
import type { LocatedObject } from '../../state/yaml-files.ts';
import { mismatchesOf, exactPattern, isSameName, type Mismatch, outcomeOf, type Outcome } from './outcome.ts';
import { loadSuite, problemAt } from './load-suite.ts';
import type { RunOptions } from './run-suites.ts';
import { ownMember } from '../../base/json.ts';
import { objectNameOf } from '../input/provided-objects.ts';
import type { Expectations } from './suite.ts';

interface FileUpdate {
  readonly file: string;
  /** One line for each expectation that changes. */
  readonly changes: readonly string[];
  readonly apply: (text: string) => string;
}

/** Returns no update of a suite that cannot run, because a run reports the reason. */
export async function fileUpdates(
  sources: readonly LocatedObject[],
  options: RunOptions,
): Promise<readonly FileUpdate[]> {
  const updates: FileUpdate[] = [];
  for (const [file, suites] of Map.groupBy(sources, (source) => source.file)) {
    const found: Found[] = [];
    for (const source of suites) found.push(...(await foundIn(source, options)));
    if (found.length === 0) continue;
    const edits = found.flatMap((each) => each.edits);
    const changes = found.flatMap((each) => each.changes);
    updates.push({ file, changes, apply: (text) => editedYaml(text, edits) });
  }
  return updates;
}

interface Found {
  readonly edits: readonly YamlEdit[];
  readonly changes: readonly string[];
}

async function foundIn(source: LocatedObject, options: RunOptions): Promise<readonly Found[]> {
  const loading = await loadSuite(source, options.findInstall);
  if (!loading.ok) return [];
  const { loaded } = loading;
  const time = loaded.suite.now === undefined ? options.now : new Date(loaded.suite.now);
  const found: Found[] = [];
  for (const [index, test] of loaded.suite.tests.entries()) {
    const result = options.isWanted(test.name)
      ? await outcomeOf(test, loaded, time, () => undefined)
      : undefined;
    if (result?.ok !== true) continue;
    // Values of a Secret are never written.
    const mismatches = mismatchesOf(test.expect, result.outcome).filter(({ isHidden }) => isHidden !== true);
    const edits = updatesOf(test.expect, mismatches, result.outcome).map(({ path, value }) => ({
      document: source.document,
      path: ['tests', index, ...path],
      within: ['tests', index, 'expect'],
      value,
    }));
    const changes = mismatches.map((each) => {
      const { file, line, column } = problemAt(source, ['tests', index, ...each.path], '');
      const change = `${firstLine(each.expected)} -> ${firstLine(each.found)}`;
      return `${file}:${line}:${column}: ${renderPath(each.path)}: ${change}`;
    });
    if (edits.length > 0) found.push({ edits, changes });
  }
  return found;
}

function firstLine(text: string): string {
  return clipped(text.split('\n', 1).join(''), 200);
}

// Finds the new expectations of a test: the answers of today.

interface Update {
  /** The place in the test. */
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

/** Returns the answer to each expectation of a request. Undefined if Reeve gave no answer. */
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

/** Removes an item that is missing or unwanted. A field that differs gets its present value. */
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

/** A new item replaces a removed one, as long as there are both. */
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
