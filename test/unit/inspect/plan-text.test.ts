// What a plan says for people where something could not be read.
import { expect, test } from 'vitest';
import type { PlanOutput } from '../../../src/inspect/output-schemas/plan-output.ts';
import { planMarkdown } from '../../../src/inspect/plan/plan-markdown.ts';
import { textOfPlan } from '../../../src/inspect/plan/plan-text.ts';

const reason = 'this account may not read it';
const plan: PlanOutput = {
  apiVersion: 'cli.reeve.dev/v1',
  kind: 'Plan',
  documents: 1,
  deletions: 0,
  origin: 'https://127.0.0.1',
  planned: 2,
  state: 'cluster',
  complete: false,
  counts: {},
  leftOut: 0,
  unread: [
    { kind: 'ConfigMap', reason },
    { kind: 'ResourceQuota', reason },
  ],
  providers: [],
  invalid: [],
  violations: [],
  known: { problems: 0, changes: 0 },
  namespaces: [],
};
const same = (text: string) => text;
const paint = { added: same, removed: same, strong: same, faint: same };

test.each([
  ['text', textOfPlan(plan, { paint, isWhole: false })],
  ['comment of a pull request', planMarkdown(plan)],
])('a plan without some kinds says so, as %s', (_format, text) => {
  expect(text).toContain('incomplete: could not read ConfigMap, ResourceQuota');
});
