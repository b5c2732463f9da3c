// The formats of a report hold for any text, any number of entries, and kinds that could not be read.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ownMember } from '../../../src/base/json.ts';
import { untilText, cellsOf, inReportOrder } from '../../../src/inspect/report/entries.ts';
import { limited, reportHtml } from '../../../src/inspect/report/report-html.ts';
import { isSameReport, openReports } from '../../../src/inspect/report/open-reports.ts';
import { reportCsv } from '../../../src/inspect/report/report-text.ts';
import { unreadText } from '../../../src/inspect/input/cluster-state.ts';
import {
  reportSections,
  type ReportEntry,
  type ReportOutput,
} from '../../../src/inspect/output-schemas/report-output.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const time = '2026-11-23T08:00:00Z';

function reportOf(entries: readonly ReportEntry[], more: Partial<ReportOutput> = {}): ReportOutput {
  const ordered = inReportOrder(entries);
  return {
    apiVersion: 'cli.reeve.dev/v1',
    kind: 'Report',
    time,
    origin: 'files',
    complete: true,
    unread: [],
    secrets: false,
    policies: [...new Set(entries.map(({ policy }) => policy))],
    namespaces: [...new Set(entries.flatMap(({ namespace }) => namespace ?? []))],
    entries: ordered,
    cells: cellsOf(new Map(), ordered),
    ...more,
  };
}

function violation(index: number): ReportEntry {
  const found = {
    rule: 'namespaces.required',
    path: `metadata.labels["${index}"]`,
    found: 'nothing',
    accepted: 'x',
  };
  return { section: 'violation', policy: 'NamespacePolicy/team', namespace: 'a', ...found, actions: 'Deny' };
}

/** Texts that would be read as markup, as a formula, or as the end of a cell. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '&lt;',
    "'",
    '</style>',
    '<!--',
  ),
  fc.constantFrom(
    '=1+1',
    '+1',
    '-1',
    '@x',
    '\uFF1D1',
    '\t=1',
    '\r\n=1',
    'a,b',
    '"',
    '""',
    ',"',
    '\u202Eabc',
    '',
  ),
);
const entry: fc.Arbitrary<ReportEntry> = fc.record(
  {
    section: fc.constantFrom(...reportSections),
    policy: text,
    namespace: text,
    object: fc.record({ apiVersion: text, kind: text, name: text }),
    rule: text,
    path: text,
    found: text,
    accepted: text,
    reason: text,
    message: text,
    until: fc.constantFrom('2027-01-31T00:00:00Z', '2026-11-23T08:30:00Z'),
    actions: text,
  },
  { requiredKeys: ['section', 'policy'] },
);
const entries = fc.array(entry, { maxLength: 6 });

/** Reads CSV as RFC 4180 describes it. */
function rowsIn(csv: string): readonly (readonly string[])[] {
  const lines = csv.match(/(?:"(?:[^"]|"")*"|[^"\n])*\n/g) ?? [];
  return lines.map((line) =>
    [...line.slice(0, -1).matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) =>
      quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
    ),
  );
}

test('CSV has one row for each entry, and no cell is a formula or has a control character', () => {
  fc.assert(
    fc.property(entries, (all) => {
      const csv = reportCsv(reportOf(all));
      const rows = rowsIn(csv);
      expect(rows).toHaveLength(all.length + 1);
      expect(rows.map((row) => row.length)).toEqual(rows.map(() => 17));
      for (const cell of rows.flat())
        expect(cell).not.toMatch(/^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|\p{Cc}|\p{Cf}/u);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('CSV keeps a text as it is, apart from the sign before a formula', () => {
  const message = 'a, "b" and =c';
  const [, row = []] = rowsIn(reportCsv(reportOf([{ ...violation(1), message, found: '=1' }])));
  expect([row[10], row[7]]).toEqual([message, "'=1"]);
});

describe('the page', () => {
  const tag =
    /<(?:!doctype html|\/?(?:html|head|body|title|style|h[1-3]|p|strong|div|table|thead|tbody|tr|th|td|a)|meta|wbr)(?: (?:lang|charset|http-equiv|content|name|class|scope|id|href)="[^"<>]*")*>/g;

  test('the page has no markup but its own, whatever the texts are, and every link has its target on the page', () => {
    fc.assert(
      fc.property(entries, (all) => {
        const unread = all.map(({ policy }) => ({ kind: policy, reason: policy }));
        const html = reportHtml(reportOf(all, { unread, origin: all[0]?.policy ?? '' }));
        expect(html.replaceAll(tag, '')).not.toMatch(/[<>]/);
        const ids = new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
        for (const [, target = ''] of html.matchAll(/ href="([^"]*)"/g)) {
          expect(target).toMatch(/^#e\d+$/);
          expect(ids).toContain(target.slice(1));
        }
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('the page loads nothing, and a browser would refuse to load or run anything', () => {
    const html = reportHtml(reportOf([violation(1)]));
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(html).not.toMatch(/<(?:script|link|img|iframe|object|form)\b|@import|url\(|https?:/i);
  });

  test('the page shows the first 200 namespaces, those with entries before the others', () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${String(index).padStart(3, '0')}`);
    const cells = names.map((namespace) => ({
      policy: 'NamespacePolicy/team',
      namespace,
      counts: namespace >= 'n290' ? { violation: 1 } : {},
    }));
    const { shown, leftOut } = limited(names, 200, cells, 'namespace');
    expect([shown.length, leftOut, shown[0], shown[9], shown[10]]).toEqual([
      200,
      100,
      'n290',
      'n299',
      'n000',
    ]);
    const html = reportHtml(reportOf([], { namespaces: names, policies: ['NamespacePolicy/team'], cells }));
    expect(html).toContain('Those with entries come first. 100 more namespaces are left out of this table.');
  });

  test('the page names a kind that could not be read', () => {
    const unread = [{ kind: 'Role', reason: 'this account may not read it' }];
    expect(unreadText(unread)).toBe('incomplete: could not read Role');
    expect(reportHtml(reportOf([], { complete: false, unread }))).toContain(
      '<p class="bad">Role could not be read: this account may not read it</p>',
    );
  });
});

test('a Report of openreports.io has at most 200 results, the worst first, and a summary that counts all', () => {
  const skipped: ReportEntry = {
    section: 'skipped',
    policy: 'NamespacePolicy/team',
    namespace: 'a',
    message: 'b',
  };
  const all = [skipped, ...Array.from({ length: 300 }, (_, index) => violation(index))];
  const [report] = openReports(reportOf(all));
  const results = ownMember(report, 'results') as readonly Record<string, unknown>[];
  expect(results).toHaveLength(200);
  expect(ownMember(report, 'summary')).toEqual({ fail: 300, error: 0, warn: 0, skip: 1, pass: 0 });
  expect(results.at(-1)).toMatchObject({
    result: 'fail',
    message: 'and 102 more results; summary counts all',
  });
  expect(JSON.stringify(report).length).toBeLessThan(1_000_000);
});

test('a Report of openreports.io is the same if only its times differ', () => {
  const [first] = openReports(reportOf([violation(1)]));
  const [later] = openReports(reportOf([violation(1)], { time: '2026-11-24T08:00:00Z' }));
  const [other] = openReports(reportOf([violation(2)]));
  if (first === undefined || later === undefined || other === undefined) throw new Error('no report');
  expect(first).not.toEqual(later);
  expect([isSameReport(first, later), isSameReport(first, other), isSameReport(undefined, first)]).toEqual([
    true,
    false,
    false,
  ]);
});

test.each([
  ['2027-01-31T00:00:00Z', 'in 68 days'],
  ['2026-11-25T08:00:00Z', 'in 2 days'],
  ['2026-11-25T07:59:00Z', 'in 47 hours'],
  ['2026-11-23T10:00:00Z', 'in 2 hours'],
  ['2026-11-23T09:59:59Z', 'in 119 minutes'],
  ['2026-11-23T08:01:00Z', 'in 1 minute'],
  ['2026-11-23T08:00:59Z', 'in less than a minute'],
])('%s is %s', (until, expected) => {
  expect(untilText(until, time)).toBe(`${until} (${expected})`);
});
