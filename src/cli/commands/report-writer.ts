// Writes the Report of each namespace to a cluster, and deletes the Reports of namespaces that no policy matches any more.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { KubeError } from '../../base/kube-error.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { isSameReport, openReportLabel, openReportType } from '../../inspect/report/open-reports.ts';
import { resourcePath } from '../../kube/http/https-client.ts';
import { readCollections } from '../../kube/read-once.ts';
import { cliFieldManager } from '../../schema/names.ts';
import { refusalText } from './refusal-text.ts';

const concurrency = 8;
const aMinuteMs = 60_000;
/** How many errors are named. The others are counted. */
const maxShown = 20;

interface Task {
  readonly about: string;
  readonly run: () => Promise<unknown>;
}

/** Returns whether each Report is in sync. Reports on standard error what was written and what was not. */
export async function writeReports(
  reports: readonly KubeObject[],
  connection: ClusterConnection,
  stderr: (text: string) => void,
): Promise<boolean> {
  const known = await knownReports(connection);
  if ('problem' in known) {
    stderr(`${known.problem}, so nothing was written\n`);
    return false;
  }
  const { writer } = connection;
  const wanted = new Set(reports.map(keyOf));
  const changed = reports.filter((report) => !isSameReport(known.byKey.get(keyOf(report)), report));
  const leftovers = [...known.byKey.values()].filter((report) => !wanted.has(keyOf(report)));
  const failures = await runAll([
    ...changed.map((report) => ({
      about: `Report ${keyOf(report)} was not written`,
      run: async () => await writer.apply(report, { force: false, manager: cliFieldManager }),
    })),
    ...leftovers.map((report) => ({
      about: `Report ${keyOf(report)} was not deleted`,
      run: async () => {
        const { uid = '', namespace = '' } = report.metadata;
        await writer.remove({ ...openReportType, namespace, name: nameOf(report) }, { uid });
      },
    })),
  ]);
  for (const failure of failures.slice(0, maxShown)) stderr(`${failure}\n`);
  if (failures.length > maxShown) stderr(`and ${failures.length - maxShown} more\n`);
  const same = reports.length - changed.length;
  const tried = changed.length + leftovers.length;
  stderr(
    `${tried - failures.length} of ${tried} Reports written or deleted; ${same} were as they should be\n`,
  );
  return failures.length === 0;
}

type Known = { readonly byKey: ReadonlyMap<string, KubeObject> } | { readonly problem: string };

async function knownReports({ client, discovery }: ClusterConnection): Promise<Known> {
  const { apiVersion, kind } = openReportType;
  const served = await discovery.find(apiVersion, kind);
  if (served === undefined) return { problem: `the API server does not serve ${kind} of ${apiVersion}` };
  const path = resourcePath({ apiVersion, plural: served.plural });
  const targets = [{ ...openReportType, path, labelSelector: `${openReportLabel}=true` }];
  const signal = AbortSignal.timeout(aMinuteMs);
  const [listed] = await readCollections(client, targets, { concurrency, signal });
  if (listed?.outcome === 'unread') return { problem: `Reports could not be listed: ${listed.reason}` };
  const objects = listed?.outcome === 'read' ? listed.objects : [];
  return { byKey: new Map(objects.map((object) => [keyOf(object), object])) };
}

/** Example: `team-a/reeve`. */
function keyOf(report: KubeObject): string {
  return `${report.metadata.namespace ?? ''}/${nameOf(report)}`;
}

/** Returns the errors. Rejects if the API server does not answer. */
async function runAll(tasks: readonly Task[]): Promise<readonly string[]> {
  const waiting = [...tasks];
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      try {
        await task.run();
      } catch (error) {
        if (!(error instanceof KubeError) || error.code === 0) throw error;
        failures.push(`${task.about}: ${failureText(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return failures.sort();
}

/** https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts */
function failureText(error: KubeError): string {
  return error.causes.includes('FieldManagerConflict')
    ? 'another program wrote a Report of this name'
    : refusalText(error);
}
