// Defines the flags of `reeve plan`.
import { deletedRefs, planScopeOf } from '../../inspect/plan/plan-scope.ts';
import { exitCodes } from '../exit-codes.ts';
import { fileOrFolder, filesSetting, outputSetting, pathArguments } from './common-settings.ts';
import { clusterSettings, installOverrides } from './state-settings.ts';
import { listSetting, pathsSetting, switchSetting } from './setting-kinds.ts';
import { commandForm, type Setting, type Settings, type Values } from './settings.ts';

const anyCount = /^\d{1,9}$/;

export const planSettings = {
  filename: filesSetting(
    'The file or folder that would be applied; - is standard input. May be given several times.',
  ),
  delete: {
    ...listSetting((text) => text.includes('/'), {
      placeholder: 'KIND/NAME',
      help: 'What deleting this policy, share, binding or intent would change: policy/team, share/regcred, binding/shop/no-egress. May be given several times.',
      accepted: 'names such as policy/team, share/regcred, binding/no-egress or intent/no-egress',
    }),
    hasVariable: false,
  },
  state: pathsSetting({
    ...fileOrFolder,
    help: 'The state that the files would be applied to, as kubectl get -o yaml writes it. Without it: the cluster. May be given several times.',
  }),
  kubeconfig: clusterSettings.kubeconfig,
  context: clusterSettings.context,
  only: {
    ...listSetting((text) => text.includes('/'), {
      placeholder: 'KIND/NAME',
      help: 'Show this namespace or provider only: ns/team-a, policy/team. --max-deletions and refusals still count everything. May be given several times.',
      accepted: 'names such as ns/team-a, policy/team, share/regcred or binding/no-egress',
    }),
    hasVariable: false,
  },
  all: {
    ...switchSetting(
      'Show everything: problems and changes that there are without the files too, each new violation, and each namespace by itself.',
    ),
    hasVariable: false,
  },
  maxDeletions: {
    placeholder: 'N',
    help: 'Exit with 1 if more objects than this would be deleted or re-created. Counts all namespaces, and deletions that wait for a confirmation.',
    accepted: 'a whole number',
    hasVariable: false,
    fallback: { value: undefined, shown: '' },
    parse: (texts) => {
      const text = texts.at(-1) ?? '';
      return anyCount.test(text) ? { ok: true, value: Number(text) } : { ok: false };
    },
  } as Setting<number | undefined>,
  exitCode: {
    ...switchSetting(
      'Exit with 2 if anything that is shown would change, and with 1 if anything would be refused.',
    ),
    hasVariable: false,
  },
  secrets: {
    ...switchSetting(
      'Also judge existing Secrets by the rules of policies. On a cluster, this reads all Secrets, page by page.',
    ),
    hasVariable: false,
  },
  ...installOverrides,
  output: outputSetting(
    ['text', 'json', 'yaml', 'markdown'],
    'Lines for people, JSON or YAML for programs, or the comment of a pull request.',
  ),
} satisfies Settings;

export type PlanFlags = Values<typeof planSettings>;

export const planForm = commandForm({
  settings: planSettings,
  positionals: pathArguments,
  check: ({ filename, state, kubeconfig, context, only, delete: deleted }) => [
    ...[planScopeOf(only), deletedRefs(deleted)].filter((scope) => typeof scope === 'string'),
    ...(filename.length + deleted.length === 0 ? ['-f is missing; accepted: a file or folder, or -'] : []),
    ...(filename.includes('-') && state.includes('-')
      ? ['only one of -f and --state can be standard input']
      : []),
    ...(state.length > 0 && (kubeconfig ?? context) !== undefined
      ? ['--state replaces the cluster: give one of them']
      : []),
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
