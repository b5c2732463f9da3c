// Finds what suites expect and Reeve answers differently today, and changes their text.
import { renderPath } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import { editedYaml, type YamlEdit } from '../../base/yaml-edit.ts';
import type { LocatedObject } from '../../state/yaml-objects.ts';
import { mismatchesOf } from './expectations.ts';
import { loadSuite, problemAt } from './load-suite.ts';
import { outcomeOf } from './outcome.ts';
import type { RunOptions } from './run-suites.ts';
import { updatesOf } from './updates.ts';

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
  const loading = await loadSuite(source, options.installOf);
  if (!loading.ok) return [];
  const { loaded } = loading;
  const time = loaded.suite.now === undefined ? options.now : new Date(loaded.suite.now);
  const found: Found[] = [];
  for (const [index, test] of loaded.suite.tests.entries()) {
    const result = options.isWanted(test.name)
      ? await outcomeOf(test, loaded, time, () => undefined)
      : undefined;
    if (result?.ok !== true) continue;
    // Nothing of a Secret is written.
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
