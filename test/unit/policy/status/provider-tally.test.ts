import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultEvaluationUnits } from '../../../../src/policy/terms/budget.ts';
import { emptyReport, type ProviderReport } from '../../../../src/policy/status/namespace-ready.ts';
import { ProviderTally } from '../../../../src/policy/status/provider-tally.ts';

const skippedIn = (namespace: string) => ({ namespace, kind: 'RoleBinding', name: 'b', message: '' });

const report = fc
  .record({
    desired: fc.nat(5),
    synced: fc.nat(5),
    conflicts: fc.nat(2),
    failed: fc.nat(2),
    stuck: fc.nat(2),
    held: fc.nat(2),
    isMatched: fc.boolean(),
    units: fc.constantFrom(0, defaultEvaluationUnits / 10, 400_000),
    failing: fc.nat(3),
    skipping: fc.nat(3),
  })
  .map(({ failing, skipping, ...counts }): ProviderReport => ({
    ...emptyReport,
    ...counts,
    skipped: Array.from({ length: skipping }, () => skippedIn('n')),
    failures: Array.from({ length: failing }, (_, index) => ({
      namespace: 'n',
      kind: 'Secret',
      name: `s${failing - index}`,
      reason: 'Failed',
      message: '',
    })),
  }));

test('the sums are the same in any order of reports', () => {
  const op = fc.record({
    namespace: fc.constantFrom('a', 'b', 'c', 'd'),
    report: fc.option(report, { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(op), (ops) => {
      const tally = new ProviderTally();
      const last = new Map<string, ProviderReport>();
      for (const { namespace, report: next } of ops) {
        if (next === undefined) tally.delete(namespace);
        else tally.set(namespace, next);
        if (next === undefined) last.delete(namespace);
        else last.set(namespace, next);
      }
      const sum = (count: (each: ProviderReport) => number) =>
        [...last.values()].reduce((total, each) => total + count(each), 0);
      expect(tally.counts).toEqual({
        desired: sum(({ desired }) => desired),
        synced: sum(({ synced }) => synced),
        conflicts: sum(({ conflicts }) => conflicts),
        failed: sum(({ failed }) => failed),
        stuck: sum(({ stuck }) => stuck),
        held: sum(({ held }) => held),
        skipped: sum(({ skipped }) => skipped.length),
      });
      const units = Math.max(0, ...[...last.values()].map((each) => each.units));
      const dearest = [...last].flatMap(([name, each]) => (each.units === units ? [name] : [])).sort();
      expect(tally.dearest).toEqual(units === 0 ? undefined : { name: dearest[0], units });
      expect(tally.matched).toBe(sum(({ isMatched }) => Number(isMatched)));
      expect(tally.failures()).toHaveLength(sum(({ failures }) => failures.length));
      expect([...tally.namespaces].sort()).toEqual([...last.keys()].sort());
    }),
  );
});

test('at most twenty failures are listed, by namespace, kind and name', () => {
  const tally = new ProviderTally();
  const failing = (namespace: string, names: readonly string[]) =>
    tally.set(namespace, {
      ...emptyReport,
      failures: names.map((name) => ({ namespace, kind: 'Secret', name, reason: 'x', message: '' })),
    });
  failing('b', ['b2', 'b1']);
  failing('a', ['a1']);
  for (let index = 0; index < 30; index += 1) failing(`c${String(index).padStart(2, '0')}`, ['c']);
  const listed = tally.failures().map(({ namespace, name }) => `${namespace}/${name ?? ''}`);
  expect(listed.slice(0, 4)).toEqual(['a/a1', 'b/b1', 'b/b2', 'c00/c']);
  expect(listed).toHaveLength(20);
});

test('at most twenty skipped contents are listed, by namespace', () => {
  const tally = new ProviderTally();
  for (let index = 29; index >= 0; index -= 1) {
    const namespace = `n${String(index).padStart(2, '0')}`;
    tally.set(namespace, { ...emptyReport, skipped: [skippedIn(namespace)] });
  }
  expect(tally.counts.skipped).toBe(30);
  expect(tally.skipped().map(({ namespace }) => namespace)).toEqual(
    Array.from({ length: 20 }, (_, index) => `n${String(index).padStart(2, '0')}`),
  );
  tally.delete('n00');
  expect(tally.skipped()[0]).toMatchObject({ namespace: 'n01' });
});

test('the first twenty matched namespaces are listed, those with failures and violations before the others', () => {
  const tally = new ProviderTally();
  const failures = [{ namespace: 'z', reason: 'x', message: '' }];
  const violations = [{ policy: 'p', rule: 'namespaces.required', path: 'x', found: 'y', accepted: 'z' }];
  for (let index = 29; index >= 0; index -= 1)
    tally.set(`n${String(index).padStart(2, '0')}`, { ...emptyReport, isMatched: true });
  tally.set('unmatched', { ...emptyReport, failures });
  tally.set('y', { ...emptyReport, isMatched: true, violations });
  tally.set('z', { ...emptyReport, isMatched: true, failures, violations });
  tally.set('x', { ...emptyReport, isMatched: true, violations });
  const listed = tally.matchedNamespaces(['n29']);
  expect(listed.slice(0, 5)).toEqual(['z', 'n29', 'x', 'y', 'n00']);
  expect(listed).toHaveLength(20);
  expect(new Set(listed).size).toBe(20);
});

test('an exceeded quota is one violation, listed before the violations of namespaces', () => {
  const tally = new ProviderTally();
  const violation = { policy: 'p', rule: 'namespaces.required', path: 'x', found: 'y', accepted: 'z' };
  for (const name of ['c', 'b', 'a'])
    tally.set(name, { ...emptyReport, quotaValue: 'red', violations: [violation] });
  tally.set('d', { ...emptyReport, quotaValue: 'blue' });
  const { count, top } = tally.violations({ label: 'team', max: 2 });
  expect(count).toBe(4);
  expect(top.map(({ namespace, rule }) => `${namespace} ${rule}`)).toEqual([
    'a namespaces.quota',
    'a namespaces.required',
    'b namespaces.required',
    'c namespaces.required',
  ]);
  expect(tally.violations(undefined).count).toBe(3);
  expect(tally.violations({ label: 'team', max: 3 }).count).toBe(3);
});
