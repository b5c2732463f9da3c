// The commands and their settings, in tables; the only file that reads the arguments and the environment of the process.
import { parseGoDuration } from './api/go-duration.ts';
import { isNamespaceName } from './api/kubernetes-names.ts';
import { maxLifetimeDays } from './certs/issue.ts';
import { certsDefaults } from './cli/certs.ts';
import { helpOf, overviewOf } from './cli/help.ts';
import {
  choice,
  durationSetting,
  integer,
  list,
  optionalText,
  requiredText,
  switchSetting,
  textSetting,
} from './cli/setting-kinds.ts';
import { likelyMeant, readSettings } from './cli/settings.ts';
import type { Environment, Reading, Settings, Values } from './cli/settings.ts';
import { logLevels } from './observe/log.ts';

const installNamespace = {
  placeholder: 'NAME',
  help: 'The namespace that Reeve is installed in.',
  accepted: 'the name of a namespace',
};
const file = { placeholder: 'FILE', accepted: 'a file' };
const folder = { placeholder: 'DIR', accepted: 'a folder' };
const port = { placeholder: 'PORT' };
const duration = { placeholder: 'DURATION' };
const tenMinutesMs = 600_000;

export const serveSettings = {
  policies: requiredText({ ...folder, help: 'The policies to serve: a YAML file, or a folder of them.' }),
  clusterState: optionalText({ ...folder, help: 'Namespaces as YAML, in place of a cluster.' }),
  host: textSetting('127.0.0.1', {
    placeholder: 'ADDRESS',
    help: 'The address to listen on; 0.0.0.0 for all.',
    accepted: 'an address',
  }),
  port: integer(8443, 0, 65_535, { ...port, help: 'Where reviews are answered; 0 takes any free port.' }),
  probesPort: integer(8081, 0, 65_535, {
    ...port,
    help: 'Where /livez, /readyz and /metrics are; 0 takes any.',
  }),
  tlsCert: optionalText({ ...file, help: 'The serving certificate in PEM. Read again when it changes.' }),
  tlsKey: optionalText({ ...file, help: 'Its key.' }),
  certsDir: optionalText({
    ...folder,
    help: 'A folder with tls.crt and tls.key; they are made when it has none. Without any of these three, a pair is made in memory.',
  }),
  namespace: { ...textSetting('reeve-system', installNamespace), parse: parseNamespace },
  sharedNamespace: {
    ...textSetting('reeve-shared', {
      placeholder: 'NAME',
      help: 'The namespace of the Secrets that are shared. Like the one of --namespace, no policy matches it.',
      accepted: 'the name of a namespace',
    }),
    parse: parseNamespace,
  },
  excludeNamespace: list(isNamespaceName, {
    placeholder: 'NAME',
    help: 'A namespace that no policy matches. May be given several times.',
    accepted: 'names of namespaces',
  }),
  logLevel: choice('info', logLevels, { placeholder: 'LEVEL', help: 'How much goes to standard error.' }),
  drainGrace: durationSetting('5s', tenMinutesMs, parseGoDuration, {
    ...duration,
    help: 'How long requests are still served after SIGTERM.',
    accepted: 'a duration such as 5s, up to 10m',
  }),
  evaluationBudget: durationSetting('250ms', 30_000, parsePositiveDuration, {
    ...duration,
    help: 'How long the policies may take over one review.',
    accepted: 'a duration such as 250ms, more than 0 and up to 30s',
  }),
} satisfies Settings;

export const certsSettings = {
  out: requiredText({ ...folder, help: 'Where ca.crt, ca.key, tls.crt and tls.key go.' }),
  namespace: { ...textSetting(certsDefaults.namespace, installNamespace), parse: parseNamespace },
  force: switchSetting('Replace files that are there.'),
  caDays: integer(certsDefaults.caDays, 1, maxLifetimeDays, {
    placeholder: 'DAYS',
    help: 'How long the authority is valid.',
  }),
  days: integer(certsDefaults.days, 1, maxLifetimeDays, {
    placeholder: 'DAYS',
    help: 'How long the serving certificate is valid.',
  }),
} satisfies Settings;

export type ServeSettings = Values<typeof serveSettings>;
type CertsSettings = Values<typeof certsSettings>;

export type Command =
  | { readonly kind: 'serve'; readonly settings: ServeSettings }
  | { readonly kind: 'certs'; readonly settings: CertsSettings }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'wrong'; readonly problems: readonly string[]; readonly hint: string };

const summaries = {
  serve: 'Answer admission reviews for a folder of policies.',
  certs: 'Make a certificate authority and a serving certificate, and print the caBundle.',
} as const;

export function readCommand(
  args: readonly string[] = process.argv.slice(2),
  env: Environment = process.env,
): Command {
  const [name, ...rest] = args;
  const wantsHelp = rest.some((arg) => arg === '--help' || arg === '-h');
  switch (name) {
    case 'serve':
      if (wantsHelp) return help(helpOf('serve', summaries.serve, serveSettings));
      return commandOf('serve', checkedServe(readSettings(serveSettings, rest, env)), (settings) => ({
        kind: 'serve',
        settings,
      }));
    case 'certs':
      if (wantsHelp) return help(helpOf('certs', summaries.certs, certsSettings));
      return commandOf('certs', readSettings(certsSettings, rest, env), (settings) => ({
        kind: 'certs',
        settings,
      }));
    case 'help':
    case '--help':
    case '-h':
      return help(overviewOf(summaries));
    default:
      return { kind: 'wrong', problems: [unknownCommand(name)], hint: 'reeve --help' };
  }
}

function help(text: string): Command {
  return { kind: 'help', text };
}

function commandOf<T>(name: string, reading: Reading<T>, make: (settings: T) => Command): Command {
  if (reading.ok) return make(reading.values);
  return { kind: 'wrong', problems: reading.problems, hint: `reeve ${name} --help` };
}

/** What no setting can say by itself. */
function checkedServe(reading: Reading<ServeSettings>): Reading<ServeSettings> {
  if (!reading.ok) return reading;
  const { tlsCert, tlsKey, certsDir } = reading.values;
  const problems: string[] = [];
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    problems.push('--tls-cert and --tls-key go together');
  if (certsDir !== undefined && (tlsCert ?? tlsKey) !== undefined) {
    problems.push('--certs-dir is in place of --tls-cert and --tls-key');
  }
  return problems.length === 0 ? reading : { ok: false, problems };
}

function unknownCommand(name: string | undefined): string {
  const known = Object.keys(summaries);
  if (name === undefined) return `a command is missing; accepted: ${known.join(', ')}`;
  const near = likelyMeant(name, known);
  return `unknown command ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

function parseNamespace(texts: readonly string[]): ReturnType<typeof certsSettings.out.parse> {
  const value = texts.at(-1) ?? '';
  return isNamespaceName(value) ? { ok: true, value } : { ok: false };
}

function parsePositiveDuration(text: string): number | undefined {
  const value = parseGoDuration(text);
  return value === 0 ? undefined : value;
}
