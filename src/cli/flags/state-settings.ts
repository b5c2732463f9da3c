// Settings of commands that look at a cluster or at files: where the cluster is, and what its install allows.
import { isLabelKey, isNamespaceName, isSubdomain } from '../../base/kubernetes-names.ts';
import { kinds } from '../../api/kinds.ts';
import { describeValue } from '../../base/text.ts';
import { providerNamed, type ReadProviderName } from '../../inspect/input/object-names.ts';
import { kindOfProvider, type ProviderId } from '../../policy/terms/provider-id.ts';
import { isClusterVariable } from '../../policy/terms/install.ts';
import {
  clusterVariable,
  file,
  fileOrFolder,
  namespaceNames,
  outputSetting,
  parseNamespace,
} from './common-settings.ts';
import { isKindText, kindAccepted } from '../commands/run.ts';
import {
  listSetting,
  optionalText,
  pathsSetting,
  switchSetting,
  withoutVariable,
  type Setting,
  type Settings,
  type Values,
} from './settings.ts';

/** Flags that choose a cluster in place of files. They have no variables, because a variable would hold for every command. */
export const connectionSettings = {
  kubeconfig: withoutVariable(
    optionalText({
      ...file,
      help: 'The kubeconfig of the cluster. Without it, the cluster is found as kubectl finds it.',
    }),
  ),
  context: withoutVariable(
    optionalText({
      placeholder: 'NAME',
      help: 'The context of the kubeconfig. Default: the current one.',
      accepted: 'the name of a context',
    }),
  ),
} satisfies Settings;

export const clusterSettings = {
  ...connectionSettings,
  cluster: withoutVariable(
    switchSetting('With -f: use the cluster that kubectl would use as the state beside the files.'),
  ),
} satisfies Settings;

/** `--state`: files with the state, in place of a cluster. */
export function stateSetting(help: string): Setting<readonly string[]> {
  return pathsSetting({ ...fileOrFolder, help: `${help} May be given several times.` });
}

/** For `explain` and `report`, which look at the files of -f themselves. */
export const stateBeside = stateSetting(
  'The state beside the files of -f, as kubectl get -o yaml writes it, in place of a cluster.',
);

interface ChosenState {
  readonly filename: readonly string[];
  readonly state: readonly string[];
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly cluster?: boolean;
}

export function stateProblems(flags: ChosenState): readonly string[] {
  const { filename, state, kubeconfig, context, cluster = false } = flags;
  return [
    ...(filename.includes('-') && state.includes('-')
      ? ['only one of -f and --state can be standard input']
      : []),
    ...(state.length > 0 && (cluster || (kubeconfig ?? context) !== undefined)
      ? ['--state replaces the cluster: give one of them']
      : []),
  ];
}

/**
 * Flags that replace those of the install's Deployments. They have no variables, because a Pod's variables describe another
 * install.
 */
export const installOverrides = {
  installNamespace: withoutVariable({
    ...optionalText({
      placeholder: 'NAME',
      help: 'The namespace that Reeve is installed in. Default: that of its Deployments.',
      accepted: 'the name of a namespace',
    }),
    parse: parseNamespace,
  }),
  sharedNamespace: withoutVariable(
    listOrNone(isNamespaceName, {
      ...namespaceNames,
      help: 'A namespace with Secrets to share, as the install has it. May be given several times.',
    }),
  ),
  excludeNamespace: withoutVariable(
    listOrNone(isNamespaceName, {
      ...namespaceNames,
      help: 'A namespace that no policy matches, as the install has it. May be given several times.',
    }),
  ),
  resourceKind: withoutVariable(
    listOrNone(isKindText, {
      placeholder: 'KIND',
      help: 'A kind that policies may provide, as the install has it. May be given several times.',
      accepted: kindAccepted,
    }),
  ),
  secretName: withoutVariable(
    listOrNone(isSubdomain, {
      placeholder: 'NAME',
      help: 'The name of a Secret that shares may create, as the install has it. May be given several times.',
      accepted: 'names of Secrets',
    }),
  ),
  enforcedKey: withoutVariable(
    listOrNone(isLabelKey, {
      placeholder: 'KEY',
      help: 'A label or annotation whose value Reeve may change on existing namespaces, as the install has it. May be given several times.',
      accepted: 'keys such as istio.io/rev',
    }),
  ),
  variable: withoutVariable(
    listOrNone(isClusterVariable, {
      ...clusterVariable,
      help: 'A fact about the cluster that policies read as variables.cluster.<name>, in place of those of the install. May be given several times.',
    }),
  ),
} satisfies Settings;

/** Settings of commands that change objects of a cluster after they have shown them and asked. */
export function askingSettings<T extends string>(outputs: Readonly<Record<T, unknown>>) {
  return {
    yes: withoutVariable(switchSetting('Do not ask for confirmation.')),
    ...connectionSettings,
    ...installOverrides,
    output: outputSetting(
      outputs,
      'Lines for people, or JSON or YAML for programs, with which nothing is asked.',
    ),
  } satisfies Settings;
}

/** `-n`: the namespace of the target. A Pod's REEVE_NAMESPACE names the namespace of the install instead. */
export function objectNamespace(help: string): Setting<string | undefined> {
  const about = { placeholder: 'NAME', help, accepted: 'the name of a namespace' };
  return withoutVariable({ ...optionalText(about), parse: parseNamespace, short: 'n' });
}

/** `-n`: the namespaces that a command looks at. Empty: all. */
export function namespacesSetting(help: string): Setting<readonly string[]> {
  const setting = listSetting(isNamespaceName, {
    ...namespaceNames,
    help: `${help} May be given several times.`,
  });
  return withoutVariable({ ...setting, short: 'n' });
}

const providerName = (help: string) =>
  withoutVariable(optionalText({ placeholder: 'NAME', help, accepted: 'a name' }));

/** The policy, share or binding that a command is about. `role` ends the sentence `The policy …`. */
export function providerSettings(role: string) {
  return {
    policy: providerName(`The policy ${role}.`),
    share: providerName(`The share ${role}.`),
    binding: providerName(
      `The binding of intents ${role}: NAME, or NAMESPACE/NAME for a SecurityIntentBinding.`,
    ),
  };
}

/** Reads the names given to the flags of `providerSettings`: NAME, or KIND/NAME as in other commands. */
export function namedProviders({
  policy,
  share,
  binding,
}: Values<ReturnType<typeof providerSettings>>): readonly ReadProviderName[] {
  return Object.entries({ policy, share, binding }).flatMap(([word, text]) =>
    text === undefined ? [] : [namedBy(word, text)],
  );
}

function namedBy(word: string, text: string): ReadProviderName {
  const whole = providerNamed(text, undefined);
  if (whole.ok && isOfFlag(word, whole.id)) return whole;
  const named = providerNamed(`${word}/${text}`, undefined);
  if (named.ok) return named;
  const placed = word === 'binding' ? 'NAME, NAMESPACE/NAME' : 'NAME';
  return {
    ok: false,
    problem: `--${word}: ${describeValue(text)} is not valid; accepted: ${placed} or ${word}/NAME`,
  };
}

function isOfFlag(word: string, id: ProviderId): boolean {
  return kinds[kindOfProvider(id)].word === word;
}

/** Undefined if the flag is not given. */
function listOrNone(
  isItem: (text: string) => boolean,
  about: Pick<Setting<unknown>, 'placeholder' | 'help' | 'accepted'>,
): Setting<readonly string[] | undefined> {
  return { ...listSetting(isItem, about), fallback: { value: undefined, shown: '' } };
}
