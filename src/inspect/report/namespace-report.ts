// Makes the Report of one namespace for the reconciler, as `reeve report --write` makes it.
import { nameOf } from '../../base/metadata.ts';
import type { NamespaceReports } from '../../reconcile/reports/report-keeper.ts';
import { Collector } from './collect.ts';
import { cellsOf, inReportOrder } from './entries.ts';
import {
  openReportLabel,
  openReportName,
  openReports,
  openReportType,
  reportDigest,
} from './open-reports.ts';

export const namespaceReports: NamespaceReports = {
  type: openReportType,
  name: openReportName,
  label: openReportLabel,
  digestOf: reportDigest,
  reportOf: async ({ plan, existing, ...input }) => {
    const found = new Collector({ ...input, unread: [] });
    found.addNamespace(plan);
    await found.addExisting(existing);
    found.addProviders();
    const entries = inReportOrder(found.entries);
    const cells = cellsOf(found.matched, entries);
    const namespaces = [nameOf(plan.namespaceObject)];
    const [report] = openReports({ entries, cells, namespaces, time: input.now.toISOString() });
    return report;
  },
};
