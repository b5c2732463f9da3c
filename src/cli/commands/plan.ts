// The command `reeve plan`: prints what applying files would change. It writes nothing.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { ClusterState } from '../../inspect/input/cluster-state.ts';
import { kubeObjectsOf, readObjectFiles, type ObjectFiles } from '../../inspect/input/file-state.ts';
import { definitionsIn, namespaceType } from '../../inspect/input/loaded-state.ts';
import type { PlanOutput } from '../../inspect/output-schemas/plan-output.ts';
import {
  missingOf,
  storedObjects,
  deletedRefs,
  planScopeOf,
  changesAnything,
  deletionsIn,
  isRefused,
  narrowed,
  withoutKnown,
} from '../../inspect/plan/plan-summary.ts';
import { planCluster, type PlanRequest } from '../../inspect/plan/plan-cluster.ts';
import { planMarkdown } from '../../inspect/plan/plan-markdown.ts';
import { textOfPlan } from '../../inspect/plan/plan-text.ts';
import { counted } from '../../base/text.ts';
import { inOrder } from '../../state/yaml-files.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { filesSetting, outputSetting, pathArguments } from '../flags/common-settings.ts';
import {
  lastOf,
  listSetting,
  switchSetting,
  wholeNumber,
  withoutVariable,
  type Setting,
  type Settings,
  type Values,
} from '../flags/settings.ts';
import {
  stateProblems,
  connectionSettings,
  installOverrides,
  stateSetting,
} from '../flags/state-settings.ts';
import { sayProblems, withState } from '../input/chosen-state.ts';
import { jsonText, yamlText } from '../output/data-text.ts';
import { styleFor } from '../output/style.ts';

const needs = [
  'providers',
  'namespaces',
  'secrets',
  'sources',
  'provided',
  'accounts',
  'own-secrets',
] as const;

const outputs = {
  text: (plan: PlanOutput, { all }: { readonly all: boolean }, isColored: boolean) =>
    textOfPlan(plan, { paint: styleFor(isColored), isWhole: all }),
  json: jsonText,
  yaml: yamlText,
  markdown: (plan: PlanOutput, { all }: { readonly all: boolean }) => planMarkdown(plan, all),
};

const flags = {
  filename: filesSetting(
    'The file or folder that would be applied; - is standard input. May be given several times.',
  ),
  delete: withoutVariable(
    listSetting((text) => text.includes('/'), {
      placeholder: 'KIND/NAME',
      help: 'What deleting this policy, share, binding or intent would change: policy/team, share/regcred, binding/shop/no-egress. May be given several times.',
      accepted: 'names such as policy/team, share/regcred, binding/no-egress or intent/no-egress',
    }),
  ),
  state: stateSetting(
    'The state that the files would be applied to, as kubectl get -o yaml writes it. Without it: the cluster.',
  ),
  ...connectionSettings,
  only: withoutVariable(
    listSetting((text) => text.includes('/'), {
      placeholder: 'KIND/NAME',
      help: 'Show this namespace or provider only: ns/team-a, policy/team. --max-deletions and refusals still count everything. May be given several times.',
      accepted: 'names such as ns/team-a, policy/team, share/regcred or binding/no-egress',
    }),
  ),
  all: withoutVariable(
    switchSetting(
      'Show everything: problems and changes that there are without the files too, each new violation, and each namespace by itself.',
    ),
  ),
  maxDeletions: {
    placeholder: 'N',
    help: 'Exit with 1 if more objects than this would be deleted or re-created. Counts all namespaces, and deletions that wait for a confirmation.',
    accepted: 'a whole number',
    hasVariable: false,
    fallback: { value: undefined, shown: '' },
    parse: lastOf(wholeNumber),
  } as Setting<number | undefined>,
  exitCode: withoutVariable(
    switchSetting(
      'Exit with 2 if anything that is shown would change, and with 1 if anything would be refused.',
    ),
  ),
  secrets: withoutVariable(
    switchSetting(
      'Also judge existing Secrets by the rules of policies. On a cluster, this reads all Secrets, page by page.',
    ),
  ),
  ...installOverrides,
  output: outputSetting(
    outputs,
    'Lines for people, JSON or YAML for programs, or the comment of a pull request.',
  ),
} satisfies Settings;

type PlanFlags = Values<typeof flags>;

export const command = commandOf({
  flags,
  outputs,
  run: runPlan,
  positionals: pathArguments,
  check: ({ only, delete: deleted, ...state }) => [
    ...[planScopeOf(only), deletedRefs(deleted)].filter((scope) => typeof scope === 'string'),
    ...(state.filename.length + deleted.length === 0
      ? ['-f is missing; accepted: a file or folder, or -']
      : []),
    ...stateProblems(state),
  ],
  wrongCode: (args) => (args.includes('--exit-code') ? exitCodes.unknown : exitCodes.wrongArguments),
  details:
    'Nothing is written. Policies of the state that the files do not have stay, as with kubectl apply. What the API server would refuse is left out of the plan. Problems and changes that there are without the files too are counted in one line.',
  examples: [
    ['reeve plan policies/', 'what applying these files would change on the cluster'],
    ['reeve plan -f policies/ --state cluster.yaml', 'the same, for a saved state'],
    ['reeve plan -f policies/ --only ns/team-a', 'one namespace'],
    ['reeve plan --delete policy/team', 'what deleting this policy would change'],
    ['reeve plan -f policies/ --exit-code --max-deletions 5 -o markdown', 'in the check of a pull request'],
  ],
  exitCodes: [
    [0, 'The plan was made. With --exit-code: nothing would change.'],
    [
      1,
      'A name of --delete or --only does not exist, or --max-deletions was exceeded. With --exit-code also: something would be refused.',
    ],
    [2, 'With --exit-code: something would change. Without it: wrong flags.'],
    [3, 'The plan could not be made. With --exit-code also: a kind could not be read, or wrong flags.'],
  ],
});

/** Returns the exit code. */
async function runPlan(
  { settings, environment }: Call<PlanFlags>,
  io: CommandIo<PlanOutput>,
): Promise<number> {
  const [scope, refs] = [planScopeOf(settings.only), deletedRefs(settings.delete)];
  if (typeof scope === 'string' || typeof refs === 'string')
    throw new Error('the command line has checked the names');
  const read = await readObjectFiles(settings.filename, io);
  const stateFlags = { ...settings, filename: [] };
  const { objects } = kubeObjectsOf(read.located);
  return await withState(stateFlags, environment, { needs, added: objects }, io, async (base, connection) => {
    if (sayProblems(problemsIn(read, base), io)) return exitCodes.unknown;
    if (base.unread.some(({ kind }) => kind === namespaceType.kind))
      return failed('without the namespaces, nothing can be planned', io);
    const missing = missingOf(scope, base, objects);
    if (missing !== undefined) return failed(missing, io, exitCodes.no);
    const deleted = storedObjects(refs, base);
    if ('problem' in deleted)
      return failed(deleted.problem, io, deleted.isUnread ? exitCodes.unknown : exitCodes.no);
    const both = objects.find((object) => deleted.some((each) => isSameObject(each, object)));
    if (both !== undefined) return failed(`--delete: ${both.kind} ${nameOf(both)} is also in the files`, io);
    const existing = connection === undefined ? {} : await existingOn(connection, settings);
    const plan = await planCluster({ base, objects, deleted, existing, now: io.clock.now() });
    if (plan.planned === 0) io.stderr('the state has no namespaces, so nothing can be planned\n');
    const inScope = narrowed({ ...plan, origin: originFor(settings, plan, connection) }, scope);
    return settings.all
      ? printed(plan, inScope, settings, io)
      : printed(withoutKnown(plan), withoutKnown(inScope), settings, io);
  });
}

/** Leaves the path of a kubeconfig out of all outputs but the text, because others read these outputs. */
function originFor({ output }: PlanFlags, { origin }: PlanOutput, connection?: ClusterConnection): string {
  return output === 'text' || connection === undefined ? origin : connection.address;
}

/** Reads no kind before a policy has rules on it. */
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

function isSameObject(a: KubeObject, b: KubeObject): boolean {
  return (
    a.apiVersion === b.apiVersion &&
    a.kind === b.kind &&
    a.metadata.namespace === b.metadata.namespace &&
    nameOf(a) === nameOf(b)
  );
}

function failed(
  problem: string,
  { stderr }: Pick<CommandIo, 'stderr'>,
  code: number = exitCodes.unknown,
): number {
  stderr(`${problem}\n`);
  return code;
}

/** Intents of the state count for bindings of the files. */
function problemsIn(read: ObjectFiles, base: ClusterState) {
  return inOrder([...read.problems, ...definitionsIn(read.located, base).problems]);
}

function printed(
  plan: PlanOutput,
  shown: PlanOutput,
  { maxDeletions, exitCode }: PlanFlags,
  io: CommandIo<PlanOutput>,
): number {
  io.print(shown);
  // The limit on deletions and the refusals cover all objects that would be applied, whatever is shown.
  const { all, held } = deletionsIn(plan);
  if (maxDeletions !== undefined && all > maxDeletions) {
    const after = held === 0 ? '' : ` (${held} of them after a confirmation)`;
    const objects = counted(all, 'object');
    io.stderr(`${objects} would be deleted or re-created${after}, and --max-deletions is ${maxDeletions}\n`);
    return 1;
  }
  if (!exitCode) return 0;
  if (isRefused(plan) && !isRefused(shown))
    io.stderr('something would be refused that --only does not show\n');
  if (isRefused(plan)) return exitCodes.no;
  if (!plan.complete) return exitCodes.unknown;
  return changesAnything(shown) ? 2 : 0;
}
