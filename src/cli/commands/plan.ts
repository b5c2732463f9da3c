// The command `reeve plan`: prints what applying files would change. It writes nothing.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { Clock } from '../../base/clock.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { ClusterState } from '../../inspect/input/cluster-state.ts';
import { kubeObjectsOf } from '../../inspect/input/file-state.ts';
import { loadState, namespaceType, setupOf } from '../../inspect/input/loaded-state.ts';
import { readObjectFiles, type ObjectFiles } from '../../inspect/input/object-files.ts';
import type { PlanOutput } from '../../inspect/output-schemas/plan-output.ts';
import { missingOf, storedObjects, deletedRefs, planScopeOf } from '../../inspect/plan/plan-scope.ts';
import { planCluster, type PlanRequest } from '../../inspect/plan/plan-cluster.ts';
import { planMarkdown } from '../../inspect/plan/plan-markdown.ts';
import {
  changesAnything,
  deletionsIn,
  isRefused,
  narrowed,
  withoutKnown,
} from '../../inspect/plan/plan-summary.ts';
import { textOfPlan } from '../../inspect/plan/plan-text.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import { counted } from '../../base/text.ts';
import { loadDefinitions } from '../../state/definitions.ts';
import { renderFileProblem, UnreadablePathError, inOrder } from '../../state/located.ts';
import { exitCodes } from '../exit-codes.ts';
import type { PlanFlags } from '../flags/plan-settings.ts';
import { withState, type StateIo } from '../input/chosen-state.ts';
import { dataText } from '../output/data-text.ts';
import { styleFor } from '../output/style.ts';

export interface PlanIo extends StateIo {
  readonly stdout: (text: string) => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly isColored: boolean;
}

const needs = [
  'providers',
  'namespaces',
  'secrets',
  'sources',
  'provided',
  'accounts',
  'own-secrets',
] as const;

/** Returns the exit code. */
export async function runPlan(
  flags: PlanFlags,
  environment: ApiServerChoice['environment'],
  io: PlanIo,
): Promise<number> {
  const [scope, refs] = [planScopeOf(flags.only), deletedRefs(flags.delete)];
  if (typeof scope === 'string' || typeof refs === 'string')
    throw new Error('the command line has checked the names');
  const read = flags.filename.length === 0 ? noFiles : await readApplied(flags.filename, io);
  if (typeof read === 'string') return failed(read, io);
  const stateFlags = { ...flags, filename: flags.state, cluster: false };
  const { objects } = kubeObjectsOf(read.located);
  return await withState(stateFlags, environment, { needs, added: objects }, io, async (base, connection) => {
    const problems = problemsIn(read, base);
    for (const problem of problems) io.stderr(`${renderFileProblem(problem)}\n`);
    if (problems.length > 0) return exitCodes.unknown;
    if (base.unread.some(({ kind }) => kind === namespaceType.kind))
      return failed('without the namespaces, nothing can be planned', io);
    const missing = missingOf(scope, base, objects);
    if (missing !== undefined) return failed(missing, io, exitCodes.no);
    const deleted = storedObjects(refs, base);
    if ('problem' in deleted)
      return failed(deleted.problem, io, deleted.isUnread ? exitCodes.unknown : exitCodes.no);
    const both = objects.find((object) => deleted.some((each) => isSameObject(each, object)));
    if (both !== undefined) return failed(`--delete: ${both.kind} ${nameOf(both)} is also in the files`, io);
    const existing = connection === undefined ? {} : await existingOn(connection, flags);
    const plan = await planCluster({ base, objects, deleted, existing, now: io.clock.now() });
    if (plan.planned === 0) io.stderr('the state has no namespaces, so nothing can be planned\n');
    const inScope = narrowed({ ...plan, origin: originFor(flags, plan, connection) }, scope);
    return flags.all
      ? printed(plan, inScope, flags, io)
      : printed(withoutKnown(plan), withoutKnown(inScope), flags, io);
  });
}

/** All but the text is passed on to others, who have no use for the path of a kubeconfig. */
function originFor({ output }: PlanFlags, { origin }: PlanOutput, connection?: ClusterConnection): string {
  return output === 'text' || connection === undefined ? origin : connection.address;
}

/** Reads nothing before a policy has rules for it. */
async function existingOn(
  connection: ClusterConnection,
  { secrets }: PlanFlags,
): Promise<PlanRequest['existing']> {
  const { auditReaderOf } = await import('../../app/object-readers.ts');
  const reader = auditReaderOf(connection);
  const of = (resource: 'roles' | 'secrets') => ({
    objects: reader.listExisting(resource, undefined, new AbortController().signal),
  });
  return { roles: of('roles'), secrets: secrets ? of('secrets') : { unread: '--secrets judges them' } };
}

const noFiles: ObjectFiles = { files: 0, located: [], problems: [] };

function isSameObject(a: KubeObject, b: KubeObject): boolean {
  return (
    a.apiVersion === b.apiVersion &&
    a.kind === b.kind &&
    a.metadata.namespace === b.metadata.namespace &&
    nameOf(a) === nameOf(b)
  );
}

function failed(problem: string, { stderr }: StateIo, code: number = exitCodes.unknown): number {
  stderr(`${problem}\n`);
  return code;
}

async function readApplied(paths: readonly string[], io: StateIo): Promise<ObjectFiles | string> {
  try {
    return await readObjectFiles(paths, io);
  } catch (error) {
    if (!(error instanceof UnreadablePathError)) throw error;
    return error.message;
  }
}

/** Intents of the state count for bindings of the files. */
function problemsIn(read: ObjectFiles, base: ClusterState) {
  const { problems, rest } = loadDefinitions(read.located, setupOf(base, loadState(base)));
  return inOrder([...read.problems, ...problems, ...kubeObjectsOf(rest).problems]);
}

function printed(plan: PlanOutput, shown: PlanOutput, flags: PlanFlags, io: PlanIo): number {
  const writers = {
    text: () => textOfPlan(shown, { paint: styleFor(io.isColored), isWhole: flags.all }),
    json: () => dataText('json', shown),
    yaml: () => dataText('yaml', shown),
    markdown: () => planMarkdown(shown, flags.all),
  };
  io.stdout(writers[flags.output]());
  // A limit on deletions and a refusal are about all that would be applied, whatever is shown.
  const { all, held } = deletionsIn(plan);
  if (flags.maxDeletions !== undefined && all > flags.maxDeletions) {
    const after = held === 0 ? '' : ` (${held} of them after a confirmation)`;
    const objects = counted(all, 'object');
    io.stderr(
      `${objects} would be deleted or re-created${after}, and --max-deletions is ${flags.maxDeletions}\n`,
    );
    return 1;
  }
  if (!flags.exitCode) return 0;
  if (isRefused(plan) && !isRefused(shown))
    io.stderr('something would be refused that --only does not show\n');
  if (isRefused(plan)) return exitCodes.no;
  if (!plan.complete) return exitCodes.unknown;
  return changesAnything(shown) ? 2 : 0;
}
