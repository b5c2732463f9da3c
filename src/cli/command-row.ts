// One row of the table of commands: reads the flags of a command, or says what is wrong with them.
import type { ApiServerChoice } from '../kube/auth/find-api-server.ts';
import { exitCodes } from './exit-codes.ts';
import { helpOf } from './flags/help-text.ts';
import {
  beforeEnd,
  likelyMeant,
  readSettings,
  type CommandForm,
  type CommandTable,
  type Environment,
  type Settings,
  type Values,
} from './flags/settings.ts';

/** The variables that kubectl and Pods use to find their cluster. */
type ClusterEnvironment = ApiServerChoice['environment'];

/** A command line that only prints: help, scripts and problems. */
export type SaidCommand =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'wrong';
      readonly problems: readonly string[];
      readonly hint: string;
      readonly code: number;
    };

/** What a command gets in addition to its settings. */
export interface Given {
  /** The words that belong to no flag: files, or what the command is about. */
  readonly positionals: readonly string[];
  readonly environment: ClusterEnvironment;
  readonly mayColor: boolean;
}

export interface Row<C> {
  readonly summary: string;
  /** The flags of a command are loaded when it is called: `reeve --help` prints summaries only. */
  readonly load: () => Promise<CommandTable>;
  readonly read: (name: string, call: Call) => Promise<C | SaidCommand>;
}

interface Call {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

export function row<S extends Settings, C>(
  summary: string,
  load: () => Promise<CommandForm<S>>,
  make: (settings: Values<S>, given: Given) => C | Promise<C>,
): Row<C> {
  return {
    summary,
    load,
    read: async (name, { program, args, env }) => {
      const form = await load();
      const flags = beforeEnd(args);
      if (flags.includes('--help') || flags.includes('-h'))
        return { kind: 'help', text: helpOf(program, name, summary, form) };
      const reading = readSettings(form.settings, args, env, form.positionals);
      const problems = reading.ok
        ? (form.check?.(reading.values, reading.positionals) ?? [])
        : reading.problems;
      if (reading.ok && problems.length === 0) {
        const { values, positionals } = reading;
        return await make(values, { positionals, environment: clusterOf(env), mayColor: isColorWanted(env) });
      }
      const code = form.wrongCode?.(args) ?? exitCodes.wrongArguments;
      return { kind: 'wrong', problems, hint: `${program} ${name} --help`, code };
    },
  };
}

/** https://no-color.org: any value turns colors off, except an empty one. */
function isColorWanted(env: Environment): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

function clusterOf(env: Environment): ClusterEnvironment {
  const { KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT } = env;
  return { KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT };
}

export function unknownCommand(name: string, known: readonly string[]): string {
  const near = likelyMeant(name, known);
  return `unknown command ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${near}?`}`;
}
