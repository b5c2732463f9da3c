import { expect, test } from 'vitest';
import { againstOthers, pageWithPeers, peersTable, type PeerResults } from '../../bench/peers/peers-table.ts';

const results: PeerResults = {
  versions: { gatekeeper: 'v3.1.0', kyverno: 'v1.2.0' },
  rows: [
    { title: 'reviews a second', unit: 'requests/s', baseline: 27_123, reeve: 9000.5, gatekeeper: 8000 },
    { title: 'idle memory', unit: 'MiB', reeve: 61.26 },
  ],
};

test('the table has a column for each program, and a dash where nothing was measured', () => {
  expect(
    peersTable(results)
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' ')),
  ).toEqual([
    '| What | Baseline | Reeve | Gatekeeper v3.1.0 | Kyverno v1.2.0 |',
    expect.stringMatching(/^\| -+ \| -+ \| -+ \| -+ \| -+ \|$/),
    '| reviews a second | 27,120 requests/s | 9,001 requests/s | 8,000 requests/s | - |',
    '| idle memory | - | 61.3 MiB | - | - |',
  ]);
});

test.each([
  [1.2, 'in the same round: 1.2x, so it is met.'],
  [0.9, 'in the same round: 0.9x, so it is missed.'],
])('a line below the table judges %dx of the reviews of Gatekeeper', (gatekeeper, line) => {
  const rows = [{ title: againstOthers, unit: 'x', gatekeeper } as const];
  expect(
    peersTable({ ...results, rows })
      .split('\n')
      .at(-1),
  ).toContain(line);
});

test('the table replaces what is between its markers, and nothing else', () => {
  const page = 'before\n<!-- generated: peers -->\nold\n<!-- generated: peers end -->\nafter\n';
  const begun = '<!-- generated: peers -->\n\nnew\n\n<!-- generated: peers end -->';
  expect(pageWithPeers(page, 'new')).toBe(`before\n${begun}\nafter\n`);
  expect(() => pageWithPeers('no markers', 'new')).toThrow('generated: peers');
});
