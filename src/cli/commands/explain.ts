// The command `reeve explain`: prints why a namespace, an object or a policy is as it is, or what is wrong with a request.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { Clock } from '../../base/clock.ts';
import { explainNamespace } from '../../inspect/explain/explain-namespace.ts';
import { explainObject } from '../../inspect/explain/explain-object.ts';
import { explainProvider } from '../../inspect/explain/explain-provider.ts';
import { explainRequest } from '../../inspect/explain/explain-request.ts';
import { explanationText } from '../../inspect/explain/explain-text.ts';
import { providedTypes, type LookedAt } from '../../inspect/explain/looked-at.ts';
import { readTarget, type ExplainTarget } from '../../inspect/explain/target.ts';
import { withPermissions } from '../../inspect/explain/permissions.ts';
import { askedUser } from '../../inspect/input/judged-write.ts';
import { accessOf } from '../../inspect/input/access.ts';
import type { ClusterState, Need } from '../../inspect/input/cluster-state.ts';
import { namespaceType } from '../../inspect/input/loaded-state.ts';
import { plannedState } from '../../inspect/plan/planned-state.ts';
import type { ExplainOutput } from '../../inspect/output-schemas/explanation.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import { exitCodes } from '../exit-codes.ts';
import type { ExplainFlags } from '../flags/explain-settings.ts';
import { withState, type StateIo } from '../input/chosen-state.ts';
import { readRequest } from '../input/request-file.ts';
import { dataText } from '../output/data-text.ts';
import { styleFor } from '../output/style.ts';

export interface ExplainIo extends StateIo {
  readonly stdout: (text: string) => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly isColored: boolean;
}

const needs: readonly Need[] = [
  'install',
  'providers',
  'namespaces',
  'provided',
  'accounts',
  'secrets',
  'own-secrets',
  'sources',
  'rbac',
];

/** Returns the exit code. */
export async function runExplain(
  flags: ExplainFlags,
  words: readonly string[],
  environment: ApiServerChoice['environment'],
  io: ExplainIo,
): Promise<number> {
  const request = words.length === 1 ? await readRequest(words[0] ?? '', io) : undefined;
  if (request !== undefined && 'problem' in request) return failed(request.problem, exitCodes.unknown, io);
  return await withState(flags, environment, { needs }, io, async (state, connection) => {
    const at = await lookedAt(state, connection, io.clock.now());
    const user = flags.as === undefined ? undefined : askedUser(flags.as, flags.asGroup);
    if (request !== undefined) {
      const asked = user === undefined ? request.request : { ...request.request, userInfo: { ...user } };
      return printed(await explainRequest(asked, at), flags, io);
    }
    const read = readTarget(words, flags.namespace, providedTypes(at));
    if (!read.ok) return failed(read.problem, exitCodes.wrongArguments, io);
    const output = await explain(read.target, at);
    return printed(user === undefined ? output : await withPermissions(output, user, at), flags, io);
  });
}

function failed(problem: string, code: number, { stderr }: ExplainIo): number {
  stderr(`${problem}\n`);
  return code;
}

function printed(output: ExplainOutput, { all, output: format }: ExplainFlags, io: ExplainIo): number {
  const { strong } = styleFor(io.isColored);
  io.stdout(format === 'text' ? explanationText(output, { all, strong }) : dataText(format, output));
  if (output.found) return output.allowed === false ? exitCodes.no : exitCodes.done;
  const isUnread = output.unread.some(
    ({ kind }) => kind === output.target.kind || kind === namespaceType.kind,
  );
  return isUnread ? exitCodes.unknown : exitCodes.no;
}

async function lookedAt(
  state: ClusterState,
  connection: ClusterConnection | undefined,
  now: Date,
): Promise<LookedAt> {
  const access = accessOf(state);
  const mayDo = connection === undefined ? storedRights(access) : await askedRights(connection);
  const { whereToAdd } = await import('../../app/install-roles.ts');
  return { ...plannedState(state, now), access, mayDo, whereToAdd, now };
}

function storedRights(access: LookedAt['access']): LookedAt['mayDo'] {
  return async (user, right) => await Promise.resolve(access.mayDo(user, right));
}

/** The API server may know of rights that no role gives. */
async function askedRights({ client }: ClusterConnection): Promise<LookedAt['mayDo']> {
  const { createAccessReviewer } = await import('../../kube/access-review.ts');
  const reviewer = createAccessReviewer(client);
  return async (user, right) => await reviewer.mayDo(user, right, new AbortController().signal);
}

async function explain(target: ExplainTarget, at: LookedAt): Promise<ExplainOutput> {
  switch (target.kind) {
    case 'namespace':
      return await explainNamespace(target.name, at);
    case 'provider':
      return await explainProvider(target.id, at);
    case 'object':
      return await explainObject(target, at);
    default:
      return target satisfies never;
  }
}
