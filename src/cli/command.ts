// Defines a command: its flags, its outputs and its work, how its arguments are read, and how it runs.
import type { Clock } from '../base/clock.ts';
import type { ApiServerChoice } from '../kube/auth/find-api-server.ts';
import { UnreadablePathError } from '../state/yaml-files.ts';
import { exitCodes } from './exit-codes.ts';
import { helpOf } from './flags/help-text.ts';
import {
  beforeEnd,
  readSettings,
  type CommandTable,
  type Environment,
  type Setting,
  type Settings,
  type Values,
} from './flags/settings.ts';
import { cleanText } from './output/clean-text.ts';
import { noProgress, startedProgress, type Progress } from './output/progress.ts';
import type { RunningIo } from './running.ts';

/** A command line that only prints something: help or problems. */
export type SaidCommand =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'wrong';
      readonly problems: readonly string[];
      readonly hint: string;
      readonly code: number;
    };

/** The input of a command. */
export interface Call<F> {
  readonly settings: F;
  /** The words without a flag: files, or the target of the command. */
  readonly positionals: readonly string[];
  /** The variables that kubectl and Pods use to find their cluster. */
  readonly environment: ApiServerChoice['environment'];
}

/** A command line that was read and can run. `K` is the name of the command. */
export interface CalledCommand<K, F> extends Call<F> {
  readonly kind: K;
  readonly mayColor: boolean;
  readonly endsBySignal: boolean;
  /** Returns the exit code. */
  readonly run: (io: ProgramIo) => Promise<number>;
}

/** The parts of the program that commands may use. */
export interface ProgramIo extends RunningIo {
  /** Returns all of standard input. */
  readonly stdin: () => Promise<string>;
  /** Resolves at the next line of standard input, and at once after its end. */
  readonly nextLine: () => Promise<unknown>;
  /** Returns the line that the user types. Undefined without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  readonly clock: Clock;
  /** True if standard output is a terminal. */
  readonly isTerminal: boolean;
  /** True if standard error is a terminal, so that progress may be shown there. */
  readonly showsProgress: boolean;
  /** The command that starts this program, for a shell. */
  readonly program: string;
  /** The CPU time of this process so far. */
  readonly processMs: () => number;
}

/** `D`: the data that the outputs of the command write. */
export interface CommandIo<D = never> extends ProgramIo {
  readonly progress: Progress;
  readonly isColored: boolean;
  /** Prints the data in the form that `-o` chooses. */
  readonly print: (data: D) => void;
}

/** Writes the result of a command in one form. */
type Writer<D, F> = (data: D, settings: F, isColored: boolean) => string;

/** `-o` offers exactly the outputs. A command without outputs has no `-o`. */
type OutputFlag<O> = [O] extends [never]
  ? { readonly output?: never }
  : { readonly output: Setting<O>; readonly [flag: string]: Setting<unknown> };

interface CommandParts<S extends Settings, D, O extends string> extends CommandTable {
  readonly flags: S & OutputFlag<O>;
  /** Keys are the words after `-o`. */
  readonly outputs: Readonly<Record<O, Writer<D, Values<S>>>>;
  /** Returns the exit code. Rejects with an UnreadablePathError if a path cannot be read. */
  readonly run: (call: Call<Values<S>>, io: CommandIo<D>) => Promise<number>;
  /** Checks arguments without a flag, and settings that depend on each other. Returns problems. */
  readonly check?: (values: Values<S>, positionals: readonly string[]) => readonly string[];
  /** The exit code for wrong arguments. Default: 2. */
  readonly wrongCode?: (args: readonly string[]) => number;
  /** True for a program that runs until a signal ends it. Such a program reports its progress itself. */
  readonly endsBySignal?: boolean;
}

interface CommandLine {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

/** A command in the list of commands. `F` are its settings. */
export interface Command<F> extends CommandTable {
  readonly read: <K extends string>(
    name: K,
    summary: string,
    line: CommandLine,
  ) => CalledCommand<K, F> | SaidCommand;
}

/** Makes a command of its parts. */
export function commandOf<S extends Settings, D, O extends string>(
  parts: CommandParts<S, D, O>,
): Command<Values<S>> {
  const { flags: table, check, wrongCode, endsBySignal = false } = parts;
  return {
    ...parts,
    read: (name, summary, { program, args, env }) => {
      const flags = beforeEnd(args);
      if (flags.includes('--help') || flags.includes('-h'))
        return { kind: 'help', text: helpOf(program, name, summary, parts) };
      const reading = readSettings<S>(table, args, env, parts.positionals);
      const problems = reading.ok ? (check?.(reading.values, reading.positionals) ?? []) : reading.problems;
      if (!reading.ok || problems.length > 0) {
        const code = wrongCode?.(args) ?? exitCodes.wrongArguments;
        return { kind: 'wrong', problems, hint: `${program} ${name} --help`, code };
      }
      const mayColor = isColorWanted(env);
      const { values: settings, positionals } = reading;
      const call = { settings, positionals, environment: clusterOf(env) };
      const run = async (io: ProgramIo): Promise<number> => {
        const given = givenTo(io, { endsBySignal, mayColor, output: String(settings['output'] ?? '') });
        return await unlessUnreadable(
          parts.run(call, { ...given, print: printerOf(parts, settings, given) }),
          given,
        );
      };
      return { kind: name, ...call, mayColor, endsBySignal, run };
    },
  };
}

function printerOf<S extends Settings, D, O extends string>(
  { outputs }: CommandParts<S, D, O>,
  settings: Values<S>,
  { stdout, isColored }: Omit<CommandIo, 'print'>,
): (data: D) => void {
  const writers = Object.entries<Writer<D, Values<S>>>(outputs);
  const write = writers.find(([name]) => name === settings['output'])?.[1];
  return (data) => stdout(write?.(data, settings, isColored) ?? '');
}

interface Printing {
  readonly endsBySignal: boolean;
  readonly mayColor: boolean;
  readonly output: string;
}

/** Cleans everything that a command prints. A program that runs until a signal cleans each line itself. */
function givenTo(io: ProgramIo, { endsBySignal, mayColor, output }: Printing): Omit<CommandIo, 'print'> {
  const isColored = mayColor && io.isTerminal;
  if (endsBySignal) return { ...io, progress: noProgress, isColored };
  const progress = io.showsProgress ? startedProgress(io.stderr, io.clock) : noProgress;
  const givesCommands = output === 'github';
  return {
    ...io,
    stdout: (text) => io.stdout(cleanText(text, { isColored, givesCommands })),
    stderr: (text) => io.stderr(cleanText(text, { isColored, givesCommands: false })),
    progress,
    isColored,
  };
}

/** Returns the exit code of the work. For a path that cannot be read, names the path and returns `unknown`. */
export async function unlessUnreadable(
  work: Promise<number>,
  { stderr }: Pick<ProgramIo, 'stderr'>,
): Promise<number> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof UnreadablePathError)) throw error;
    stderr(`${error.message}\n`);
    return exitCodes.unknown;
  }
}

/** https://no-color.org: any value turns colors off, except an empty one. */
function isColorWanted(env: Environment): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

function clusterOf(env: Environment): ApiServerChoice['environment'] {
  const { KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT } = env;
  return { KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT };
}
