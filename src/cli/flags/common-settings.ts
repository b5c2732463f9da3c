// Settings that several commands have in common.
import { isLabelKey, isNamespaceName } from '../../base/kubernetes-names.ts';
import {
  choiceSetting,
  durationSetting,
  integerSetting,
  listSetting,
  optionalText,
  pathsSetting,
  textSetting,
  lastOf,
  type Positionals,
  type Setting,
  type Settings,
} from './settings.ts';
import { parseGoDuration } from '../../base/time.ts';
import { defaultEvaluationUnits } from '../../policy/terms/budget.ts';
import { isClusterVariable } from '../../policy/terms/install.ts';

export const parseLabelKey = lastOf((text) => (isLabelKey(text) ? text : undefined));

export const parseNamespace = lastOf((text) => (isNamespaceName(text) ? text : undefined));

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export const file = { placeholder: 'FILE', accepted: 'a file' };
export const folder = { placeholder: 'DIR', accepted: 'a folder' };
export const fileOrFolder = { placeholder: 'PATH', accepted: 'a YAML file or a folder of them' };
const port = { placeholder: 'PORT' };
export const durationPlaceholder = { placeholder: 'DURATION' };
export const namespaceNames = { placeholder: 'NAME', accepted: 'names of namespaces' };
const tenMinutesMs = 600_000;

export function installNamespace(value: string): Setting<string> {
  const about = {
    placeholder: 'NAME',
    help: 'The namespace that Reeve is installed in.',
    accepted: 'the name of a namespace',
  };
  return { ...textSetting(value, about), parse: parseNamespace };
}

/** `-f`: the files that a command is about. */
export function filesSetting(help: string): Setting<readonly string[]> {
  return { ...pathsSetting({ placeholder: 'PATH', help, accepted: pathAccepted }), short: 'f' };
}

/** Paths without a flag, for a command with `filesSetting`. */
export const pathArguments: Positionals = {
  placeholder: '[PATH ...]',
  help: 'Files and folders, as after -f.',
  min: 0,
  max: 1000,
  setting: 'filename',
};

const pathAccepted = 'a YAML or JSON file, a folder of them, or -';

/** `-o`: offers the outputs of a command by their names. The first one is the default. */
export function outputSetting<T extends string>(
  outputs: Readonly<Record<T, unknown>>,
  help: string,
): Setting<T> {
  const names = Object.keys(outputs).filter((name): name is T => Object.hasOwn(outputs, name));
  const [first] = names;
  if (first === undefined) throw new Error('a command with -o has an output');
  const setting = choiceSetting(first, names, { placeholder: 'FORMAT', help });
  return { ...setting, short: 'o', hasVariable: false };
}

export const clusterVariable = {
  placeholder: 'cluster.NAME=VALUE',
  accepted: 'cluster.NAME=VALUE, such as cluster.region=eu',
};

/** The namespaces that no policy matches, in addition to those of Kubernetes, and the facts about the cluster. */
export const installSettings = {
  namespace: installNamespace('reeve-system'),
  sharedNamespace: listSetting(
    isNamespaceName,
    {
      ...namespaceNames,
      help: 'A namespace with Secrets to share. No policy matches it. May be given several times.',
    },
    ['reeve-shared'],
  ),
  excludeNamespace: listSetting(isNamespaceName, {
    ...namespaceNames,
    help: 'A namespace that no policy matches. May be given several times.',
  }),
  variable: listSetting(isClusterVariable, {
    ...clusterVariable,
    help: 'A fact about the cluster that policies read as variables.cluster.<name>. May be given several times.',
  }),
} satisfies Settings;

/** The settings of the webhook. */
export const webhookSettings = {
  port: integerSetting(8443, 0, 65_535, {
    ...port,
    help: 'The port for reviews; 0 selects any free port.',
  }),
  tlsCert: optionalText({ ...file, help: 'The serving certificate in PEM. Read again when it changes.' }),
  tlsKey: optionalText({ ...file, help: 'The private key of the certificate.' }),
  certsDir: optionalText({
    ...folder,
    help: 'A folder with tls.crt and tls.key, as reeve certs writes it. Without any of these three, serve makes a pair in memory, and run shares an authority with the other replicas.',
  }),
  drainGrace: durationSetting('5s', tenMinutesMs, parseGoDuration, {
    ...durationPlaceholder,
    help: 'How long requests are still answered after SIGTERM.',
    accepted: 'a duration such as 5s, up to 10m',
  }),
  evaluationBudget: integerSetting(defaultEvaluationUnits, 10_000, 20_000_000, {
    placeholder: 'UNITS',
    help: 'How much work policies may take to evaluate one review, in units of the cost of CEL. Beyond it, the write is refused. Policies that can only warn come last, and are left out then.',
  }),
} satisfies Settings;

/** Credentials in a URL would be visible to each reader of the Deployment. */
const collectorUrl = /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#@]*)?$/;

export const processSettings = {
  probesPort: integerSetting(8081, 0, 65_535, {
    ...port,
    help: 'The port for /livez, /readyz and /metrics; 0 selects any free port.',
  }),
  logLevel: choiceSetting('info', logLevels, {
    placeholder: 'LEVEL',
    help: 'The lowest level that is logged to standard error.',
  }),
  traceEndpoint: {
    placeholder: 'URL',
    help: 'The OpenTelemetry collector that gets a span for each review and each reconcile, over OTLP/HTTP. Without it, nothing is traced.',
    accepted: 'http://HOST:PORT or https://HOST:PORT',
    fallback: { value: undefined, shown: '' },
    parse: lastOf((text) => (collectorUrl.test(text) && URL.canParse(text) ? text : undefined)),
  } as Setting<string | undefined>,
} satisfies Settings;

export function hostSetting(value: string): Setting<string> {
  return textSetting(value, {
    placeholder: 'ADDRESS',
    help: 'The address to listen on; 0.0.0.0 means all.',
    accepted: 'an address',
  });
}

export const labelKeyAccepted = 'the key of a label';

export function parsePositiveDuration(text: string): number | undefined {
  const value = parseGoDuration(text);
  return value === 0 ? undefined : value;
}

interface TlsSettings {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly certsDir: string | undefined;
}

/** Checks settings that depend on each other. */
export function tlsProblems({ tlsCert, tlsKey, certsDir }: TlsSettings): readonly string[] {
  const problems: string[] = [];
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    problems.push('--tls-cert and --tls-key go together');
  if (certsDir !== undefined && (tlsCert ?? tlsKey) !== undefined) {
    problems.push('--certs-dir replaces --tls-cert and --tls-key: give one of them');
  }
  return problems;
}
