// Reads the command and its settings. Only this file reads the arguments and environment of the process.
import type { ApiServerChoice } from '../kube/auth/find-api-server.ts';
import { runSettings, type RunFlags } from './run-settings.ts';
import {
  certsSettings,
  type CertsFlags,
  checkSettings,
  type CheckFlags,
  upSettings,
  type UpFlags,
  serveSettings,
  type ServeFlags,
  uninstallDetails,
  uninstallSettings,
  type UninstallFlags,
} from './command-settings.ts';
import {
  likelyMeant,
  readSettings,
  type Environment,
  type ParsedSettings,
  type Settings,
  type Values,
  helpOf,
  overviewOf,
} from './settings.ts';

/** The variables that kubectl and Pods use to find their cluster. */
type ClusterEnvironment = ApiServerChoice['environment'];

export type Command =
  | {
      readonly kind: 'up';
      readonly settings: UpFlags;
      readonly mayColor: boolean;
    }
  | { readonly kind: 'run'; readonly settings: RunFlags; readonly environment: ClusterEnvironment }
  | { readonly kind: 'serve'; readonly settings: ServeFlags }
  | { readonly kind: 'certs'; readonly settings: CertsFlags }
  | { readonly kind: 'check'; readonly settings: CheckFlags; readonly environment: ClusterEnvironment }
  | {
      readonly kind: 'uninstall';
      readonly settings: UninstallFlags;
      readonly environment: ClusterEnvironment;
    }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'wrong'; readonly problems: readonly string[]; readonly hint: string };

const summaries = {
  up: 'Try Reeve on a sandbox in this process, with a feed of its decisions and writes.',
  run: 'Run on a cluster: answer admission reviews, and create and keep the contents of namespaces.',
  serve: 'Answer admission reviews for a folder of policies, without a cluster.',
  certs: 'Create a certificate authority and a serving certificate, and print the caBundle.',
  check: 'Look at an install on a cluster, and print what does not work. Needs rights to read.',
  uninstall: 'Remove Reeve from a cluster, so that nothing of it blocks requests.',
} as const;

/** More help for commands whose flags do not explain enough. */
const details: Partial<Record<keyof typeof summaries, string>> = { uninstall: uninstallDetails };

export function readCommand(
  args: readonly string[] = process.argv.slice(2),
  env: Environment = process.env,
): Command {
  const [name, ...rest] = args;
  switch (name) {
    case 'up':
      return commandOf(name, upSettings, rest, env, checkedUp, (settings) => ({
        kind: 'up',
        settings,
        // https://no-color.org: any value turns colors off, except an empty one.
        mayColor: (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
      }));
    case 'run':
      return commandOf(name, runSettings, rest, env, checkedRun, (settings) => ({
        kind: 'run',
        settings,
        environment: clusterOf(env),
      }));
    case 'serve':
      return commandOf(name, serveSettings, rest, env, checkedTls, (settings) => ({
        kind: 'serve',
        settings,
      }));
    case 'certs':
      return commandOf(name, certsSettings, rest, env, asRead, (settings) => ({ kind: 'certs', settings }));
    case 'check':
      return commandOf(name, checkSettings, rest.map(longForm), env, asRead, (settings) => ({
        kind: 'check',
        settings,
        environment: clusterOf(env),
      }));
    case 'uninstall':
      return commandOf(name, uninstallSettings, rest, env, asRead, (settings) => ({
        kind: 'uninstall',
        settings,
        environment: clusterOf(env),
      }));
    case 'help':
    case '--help':
    case '-h':
      return { kind: 'help', text: overviewOf(summaries) };
    default:
      return { kind: 'wrong', problems: [unknownCommand(name)], hint: 'reeve --help' };
  }
}

// oxlint-disable-next-line max-params -- the arguments are one row of the table above
function commandOf<S extends Settings>(
  name: keyof typeof summaries,
  settings: S,
  args: readonly string[],
  env: Environment,
  check: (values: Values<S>) => readonly string[],
  make: (values: Values<S>) => Command,
): Command {
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    return { kind: 'help', text: helpOf(name, summaries[name], settings, details[name]) };
  }
  const reading: ParsedSettings<Values<S>> = readSettings(settings, args, env);
  const problems = reading.ok ? check(reading.values) : reading.problems;
  if (reading.ok && problems.length === 0) return make(reading.values);
  return { kind: 'wrong', problems, hint: `reeve ${name} --help` };
}

interface TlsSettings {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly certsDir: string | undefined;
}

/** Checks settings that depend on each other. */
function checkedTls({ tlsCert, tlsKey, certsDir }: TlsSettings): readonly string[] {
  const problems: string[] = [];
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    problems.push('--tls-cert and --tls-key go together');
  if (certsDir !== undefined && (tlsCert ?? tlsKey) !== undefined) {
    problems.push('--certs-dir replaces --tls-cert and --tls-key: give one of them');
  }
  return problems;
}

function checkedUp({ demo, step, policies }: UpFlags): readonly string[] {
  if (!demo) return step ? ['--step goes with --demo'] : [];
  return policies === upSettings.policies.fallback?.value
    ? []
    : ['--demo uses policies of its own: leave out --policies'];
}

function checkedRun(settings: RunFlags): readonly string[] {
  const { role, tlsCert, tlsCa, certsDir } = settings;
  const problems = [...checkedTls(settings)];
  if (tlsCa !== undefined && tlsCert === undefined) problems.push('--tls-ca goes with --tls-cert');
  const hasFiles = tlsCert !== undefined || certsDir !== undefined;
  return role === 'reconciler' || hasFiles ? problems : [...problems, ...checkedAuthority(settings)];
}

/** Checks the settings of the authority that the replicas create and share. */
function checkedAuthority(settings: RunFlags): readonly string[] {
  const { manageWebhooks, caLifetime, certLifetime, caSettling } = settings;
  const problems: string[] = [];
  if (!manageWebhooks) {
    problems.push(
      '--manage-webhooks=false requires --tls-cert and --tls-key, or --certs-dir: API servers learn of an authority of Reeve only from the webhook configurations that Reeve writes',
    );
  }
  if (caLifetime < 3 * certLifetime) {
    problems.push(
      '--ca-lifetime must be at least three times --cert-lifetime: the last certificate of an authority must expire before the authority',
    );
  }
  if (caSettling > certLifetime / 6) {
    problems.push(
      '--ca-settling must be at most a sixth of --cert-lifetime: after the loss of an authority no certificate is signed for that time, and a certificate is renewed when a third of its lifetime is left',
    );
  }
  return problems;
}

/** `-o` is the form that people know from kubectl. */
const longForm = (arg: string): string => (arg === '-o' ? '--output' : arg);

const asRead = (): readonly string[] => [];

function clusterOf(env: Environment): ClusterEnvironment {
  const { KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT } = env;
  return { KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT };
}

function unknownCommand(name: string | undefined): string {
  const known = Object.keys(summaries);
  if (name === undefined) return `a command is missing; accepted: ${known.join(', ')}`;
  const near = likelyMeant(name, known);
  return `unknown command ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${near}?`}`;
}
