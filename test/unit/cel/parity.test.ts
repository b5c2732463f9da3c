// Compares each recorded verdict of Kubernetes with the verdict of src/cel.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileExpression, type Bindings } from '../../../src/cel/expression.ts';

interface Table {
  readonly variables: Bindings;
  readonly groups: readonly {
    readonly group: string;
    readonly cases: readonly (readonly [string, string])[];
  }[];
  readonly refused: readonly string[];
}

const path = new URL('../../fixtures/cel/parity.json', import.meta.url);
const table = JSON.parse(readFileSync(path, 'utf8')) as Table;

function verdictOf(source: string): string {
  const variables = ['object', 'oldObject', 'request', 'namespaceObject'] as const;
  const compiled = compileExpression(source, { variables }, 'bool');
  if (!compiled.ok) return 'does not compile';
  const evaluation = compiled.expression.evaluate(table.variables);
  return evaluation.ok ? String(evaluation.value) : 'error';
}

describe.each(table.groups)('$group', ({ cases }) => {
  test.each(cases)('%s has the verdict %s', (source, verdict) => {
    expect(verdictOf(source)).toBe(verdict);
  });
});

test.each(table.refused)('%s is refused, although Kubernetes accepts it', (source) => {
  expect(verdictOf(source)).toBe('does not compile');
});
