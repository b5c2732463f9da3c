// Leaves of a report what belongs to the wanted namespaces, policies and time.
import type { ReportOutput } from '../output-schemas/report-output.ts';

export interface ReportScope {
  /** Empty: all. */
  readonly namespaces: ReadonlySet<string>;
  /** Empty: all. */
  readonly policies: ReadonlySet<string>;
  /** Only entries about objects that were written since then. */
  readonly since: Date | undefined;
}

export function narrowedReport(
  report: ReportOutput,
  { namespaces, policies, since }: ReportScope,
): ReportOutput {
  const isWanted = (each: { readonly policy: string; readonly namespace?: string }): boolean =>
    isIn(policies, each.policy) && (namespaces.size === 0 || namespaces.has(each.namespace ?? ''));
  const isNew = ({ written }: { readonly written?: string }): boolean =>
    since === undefined || (written !== undefined && Date.parse(written) >= since.getTime());
  return {
    ...report,
    policies: report.policies.filter((each) => isIn(policies, each)),
    namespaces: report.namespaces.filter((each) => isIn(namespaces, each)),
    entries: report.entries.filter((each) => isWanted(each) && isNew(each)),
    cells: report.cells.filter(isWanted),
  };
}

function isIn(wanted: ReadonlySet<string>, name: string): boolean {
  return wanted.size === 0 || wanted.has(name);
}
