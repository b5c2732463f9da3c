// The tables of docs/intents.md say what the code does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { defaultParams, knownIntents, type IntentId } from '../../../../src/api/intents/intent-ids.ts';
import { workloadSelector } from '../../../../src/api/intents/workloads.ts';
import type { Intent } from '../../../../src/policy/intents/adapter.ts';
import { intentAdapters } from '../../../../src/policy/intents/adapters.ts';
import { tableBelow } from '../../../samples/markdown.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/intents.md'), 'utf8');
const actions = ['Block', 'Audit', 'Warn'] as const;
const withLabels = { matchLabels: { app: 'shop' } };

/** Removes the marks of code. */
const textOf = (cell: string): string => cell.replaceAll('`', '');

describe('the table of ids', () => {
  const rows = tableBelow(page, '## What each id does').map((cells) => cells.map(textOf));

  test('the table has a row for each id and each adapter that supports it, with the Pods and the actions', () => {
    const shown = rows.map(([id, adapter, pods, action]) => [id, adapter, pods, action].join(' | '));
    const expected = knownIds().flatMap((id) => supportRows(id));
    expect(shown.toSorted()).toEqual(expected.toSorted());
  });

  test.each(knownIds())('the rows of %s name its params and their defaults', (id) => {
    const cells = rows.filter(([first]) => first === id).map(([, , , , params]) => params ?? '');
    const named = cells.flatMap((cell) => cell.split('; ')).filter((text) => text !== '');
    expect(new Set(named)).toEqual(new Set(knownIntents[id].params.map(paramText)));
  });
});

describe('the table of conditions on labels', () => {
  const rows = tableBelow(page, '## Which Pods: `workloads`').map((cells) => cells.map(textOf));

  test.each(rows.map(([condition = '', selector = '']) => ({ condition, selector })))(
    '$condition gives the selector that the table shows',
    ({ condition, selector }) => {
      const shown: unknown = parse(selector);
      expect(workloadSelector({ cel: [condition] })).toEqual({ ok: true, selector: shown });
    },
  );

  test.each(['startsWith("a")', 'endsWith("a")', 'contains("a")', 'matches("a")'])(
    'labels.app.%s is refused, as the page says',
    (call) => expect(workloadSelector({ cel: [`labels.app.${call}`] }).ok).toBe(false),
  );

  test('two cases with || are refused, as the page says', () => {
    expect(workloadSelector({ cel: ['labels.app == "a" || has(labels.b)'] }).ok).toBe(false);
  });
});

function knownIds(): readonly IntentId[] {
  return Object.keys(knownIntents) as IntentId[];
}

function supportRows(id: IntentId): readonly string[] {
  const rows = intentAdapters.flatMap((adapter) => {
    const supported = (selector: typeof withLabels | undefined) =>
      actions.filter((action) => adapter.supports(intentOf(id, action), selector) === true);
    const all = supported(undefined);
    const some = supported(withLabels);
    if (all.length === 0 && some.length === 0) return [];
    const pods = all.length === 0 ? 'Pods with labels' : some.length === 0 ? 'all Pods' : 'both';
    const named = (all.length === 0 ? some : all).join(', ');
    if (pods === 'both') expect(all).toEqual(some);
    return [[id, adapter.id, pods, named === actions.join(', ') ? 'all' : named].join(' | ')];
  });
  return rows.length > 0 ? rows : [[id, 'none', '', ''].join(' | ')];
}

function intentOf(id: IntentId, action: (typeof actions)[number]): Intent {
  return { name: 'an-intent', id, action, severity: 'Low' };
}

/** `psaLevel: baseline` for a param with a default. */
function paramText(name: string): string {
  const value = Object.entries(defaultParams).find(([key]) => key === name)?.[1];
  return value === undefined ? name : `${name}: ${[value].flat().join(', ')}`;
}
