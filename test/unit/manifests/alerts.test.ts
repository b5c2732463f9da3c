// Each alert has a runbook, and each runbook an alert.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..', '..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Alert {
  readonly alert: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook: string };
}
const { groups } = parse(textOf('manifests/chart/files/alerts.yaml')) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);

test.each(alerts)('the runbook of $alert exists and has its name', ({ alert, annotations }) => {
  expect(existsSync(join(root, annotations.runbook))).toBe(true);
  expect(textOf(annotations.runbook).split('\n')[0]).toBe(`# ${alert}`);
});

test('no runbook is left without an alert', () => {
  const pages = globSync('docs/runbooks/Reeve*.md', { cwd: root }).map((path) => basename(path, '.md'));
  expect(pages.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
});

test('the table of runbooks lists every alert with its severity and delay', () => {
  const rows = textOf('docs/runbooks/README.md')
    .split('\n')
    .filter((line) => line.startsWith('| [Reeve'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, name = '', severity, delay]) => ({ name: /\[(\w+)\]/u.exec(name)?.[1], severity, delay }));
  expect(rows).toEqual(
    alerts.map(({ alert, labels, ...rest }) => ({
      name: alert,
      severity: labels.severity,
      delay: rest.for ?? 'at once',
    })),
  );
});
