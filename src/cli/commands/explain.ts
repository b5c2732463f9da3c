// The command `reeve explain`: prints why a namespace, an object or a policy is as it is, or what is wrong with a request.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { explainNamespace } from '../../inspect/explain/explain-namespace.ts';
import { explainObject } from '../../inspect/explain/explain-object.ts';
import { explainProvider } from '../../inspect/explain/explain-provider.ts';
import { explainRequest } from '../../inspect/explain/explain-request.ts';
import { explanationText } from '../../inspect/explain/explain-text.ts';
import { providedTypes, type LookedAt } from '../../inspect/explain/looked-at.ts';
import { readTarget, type ExplainTarget } from '../../inspect/input/object-names.ts';
import { withPermissions } from '../../inspect/explain/rights.ts';
import { askedUser } from '../../inspect/input/judged-write.ts';
import { accessOf } from '../../inspect/input/access.ts';
import type { ClusterState, Need } from '../../inspect/input/cluster-state.ts';
import { namespaceType, planningState } from '../../inspect/input/loaded-state.ts';
import type { ExplainOutput } from '../../inspect/output-schemas/explanation.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { filesSetting, outputSetting } from '../flags/common-settings.ts';
import {
  optionalText,
  pathsSetting,
  switchSetting,
  withoutVariable,
  type Settings,
  type Values,
} from '../flags/settings.ts';
import {
  stateProblems,
  clusterSettings,
  installOverrides,
  objectNamespace,
  stateBeside,
} from '../flags/state-settings.ts';
import { withState } from '../input/chosen-state.ts';
import { readRequest } from '../input/request-file.ts';
import { jsonText, yamlText } from '../output/data-text.ts';
import { styleFor } from '../output/style.ts';

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

const outputs = {
  text: (output: ExplainOutput, { all }: { readonly all: boolean }, isColored: boolean) =>
    explanationText(output, { all, strong: styleFor(isColored).strong }),
  json: jsonText,
  yaml: yamlText,
};

const flags = {
  filename: filesSetting(
    'Look at the objects of this file or folder; - is standard input. May be given several times.',
  ),
  state: stateBeside,
  ...clusterSettings,
  namespace: objectNamespace('The namespace of the object, or of a SecurityIntentBinding.'),
  as: withoutVariable(
    optionalText({
      placeholder: 'USER',
      help: 'Say also what this user may do here, and what Reeve would refuse. Of a request: as if this user had sent it.',
      accepted: 'the name of a user, or system:serviceaccount:NAMESPACE:NAME',
    }),
  ),
  asGroup: pathsSetting({
    placeholder: 'GROUP',
    help: 'With --as: a group of the user. May be given several times.',
    accepted: 'the name of a group',
  }),
  all: withoutVariable(
    switchSetting(
      'Print all namespaces and objects of a policy, not only the first 20, and why each policy does not match.',
    ),
  ),
  ...installOverrides,
  output: outputSetting(outputs, 'Text for people, or JSON or YAML for programs.'),
} satisfies Settings;

export const command = commandOf({
  flags,
  outputs,
  run: runExplain,
  positionals: {
    placeholder: '[TARGET]',
    help: 'NAME of a namespace, policy/NAME, share/NAME, binding/NAME, KIND/NAME of an object with -n, or a file with an AdmissionReview (- is standard input). KIND NAME means KIND/NAME. Without a target: the namespace of -n.',
    min: 0,
    max: 2,
  },
  check: ({ namespace, as, asGroup, ...state }, [target]) => [
    ...stateProblems(state),
    ...(as === undefined && asGroup.length > 0 ? ['--as-group goes with --as'] : []),
    ...(target === '-' && [...state.filename, ...state.state].includes('-')
      ? ['standard input is either the request or the objects of -f, not both']
      : []),
    ...(target === undefined && namespace === undefined
      ? ['a target is missing: NAME of a namespace, KIND/NAME, or a file']
      : []),
  ],
  examples: [
    ['reeve explain team-a', 'what each policy gives this namespace, and why the others do not match'],
    ['reeve explain secret/regcred -n team-a', 'who provides this Secret, or why it is not there'],
    ['reeve explain policy/team', 'the namespaces, objects and rights of this policy'],
    ['reeve explain team-a --as bob --as-group red', 'what bob may do here, and what he would be refused'],
    ['reeve explain request.json', 'what each rule says of an AdmissionReview, and the answer'],
    ['reeve explain team-a -f policies/ -f cluster/', 'a namespace in files'],
  ],
  exitCodes: [
    [0, 'The target exists, or the request is allowed.'],
    [1, 'The target does not exist, or the request is refused.'],
    [2, 'Wrong flags, or a target that is neither a name nor a file.'],
    [
      3,
      'The command could not find out: no answer of the cluster, too few rights, or files that cannot be read.',
    ],
  ],
});

/** Returns the exit code. */
async function runExplain(
  { settings, positionals: words, environment }: Call<Values<typeof flags>>,
  io: CommandIo<ExplainOutput>,
): Promise<number> {
  const request = words.length === 1 ? await readRequest(words[0] ?? '', io) : undefined;
  if (request !== undefined && 'problem' in request) return failed(request.problem, exitCodes.unknown, io);
  return await withState(settings, environment, { needs }, io, async (state, connection) => {
    const at = await lookedAt(state, connection, io.clock.now());
    const user = settings.as === undefined ? undefined : askedUser(settings.as, settings.asGroup);
    if (request !== undefined) {
      const asked = user === undefined ? request.request : { ...request.request, userInfo: { ...user } };
      return printed(await explainRequest(asked, at), io);
    }
    const read = readTarget(words, settings.namespace, providedTypes(at));
    if (!read.ok) return failed(read.problem, exitCodes.wrongArguments, io);
    const output = await explain(read.target, at);
    return printed(user === undefined ? output : await withPermissions(output, user, at), io);
  });
}

function failed(problem: string, code: number, { stderr }: Pick<CommandIo, 'stderr'>): number {
  stderr(`${problem}\n`);
  return code;
}

function printed(output: ExplainOutput, { print }: CommandIo<ExplainOutput>): number {
  print(output);
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
  return { ...planningState(state, now), access, mayDo, now };
}

function storedRights(access: LookedAt['access']): LookedAt['mayDo'] {
  return async (user, right) => await Promise.resolve(access.mayDo(user, right));
}

/** Asks the API server, which may know of rights that no role gives. */
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
