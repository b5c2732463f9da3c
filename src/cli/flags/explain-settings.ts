// Defines the flags of `reeve explain`.
import { filesSetting, outputSetting } from './common-settings.ts';
import { clusterSettings, installOverrides, objectNamespace } from './state-settings.ts';
import { optionalText, pathsSetting, switchSetting, withoutVariable } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';

export const explainSettings = {
  filename: filesSetting(
    'Look at the objects of this file or folder; - is standard input. May be given several times.',
  ),
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
  output: outputSetting(['text', 'json', 'yaml'], 'Text for people, or JSON or YAML for programs.'),
} satisfies Settings;

export type ExplainFlags = Values<typeof explainSettings>;

export const explainForm = commandForm({
  settings: explainSettings,
  positionals: {
    placeholder: '[TARGET]',
    help: 'NAME of a namespace, policy/NAME, share/NAME, binding/NAME, KIND/NAME of an object with -n, or a file with an AdmissionReview (- is standard input). KIND NAME means KIND/NAME. Without a target: the namespace of -n.',
    min: 0,
    max: 2,
  },
  check: ({ filename, namespace, as, asGroup }, [target]) => [
    ...(as === undefined && asGroup.length > 0 ? ['--as-group goes with --as'] : []),
    ...(target === '-' && filename.includes('-')
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
