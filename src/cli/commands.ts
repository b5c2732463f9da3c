// The commands, in the order of the help, and the reading of a command line. The file of a command is loaded when it is called,
// because a Pod must not load the others. Only this file reads the arguments and environment of the process.
import type { CalledCommand, Command as MadeCommand, SaidCommand } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { overviewOf } from './flags/help-text.ts';
import { likelyMeant, type CommandTable, type Environment } from './flags/settings.ts';

/** Help, completion and reference read such a list. Its keys are the names. */
export type CommandList = Readonly<Record<string, ListedCommand>>;

interface ListedCommand {
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: MadeCommand<unknown> }>;
}

export const commands = {
  up: {
    summary: 'Try Reeve on a sandbox in this process, with a feed of its decisions and writes.',
    load: async () => await import('./commands/up.ts'),
  },
  run: {
    summary: 'Run on a cluster: answer admission reviews, and create and keep the contents of namespaces.',
    load: async () => await import('./commands/run.ts'),
  },
  serve: {
    summary: 'Answer admission reviews for a folder of policies, without a cluster.',
    load: async () => await import('./commands/serve.ts'),
  },
  certs: {
    summary: 'Create a certificate authority and a serving certificate, and print the caBundle.',
    load: async () => await import('./commands/certs.ts'),
  },
  check: {
    summary: 'Find what is wrong with policies in files, or what of an install on a cluster does not work.',
    load: async () => await import('./commands/check.ts'),
  },
  explain: {
    summary: 'Say why a namespace, an object or a policy is as it is, or why a request is refused.',
    load: async () => await import('./commands/explain.ts'),
  },
  adopt: {
    summary: 'Mark existing objects for adoption by a policy or share, after showing them.',
    load: async () => await import('./commands/adopt.ts'),
  },
  confirm: {
    summary: 'Confirm deletions that a policy, share or binding holds back, after showing them.',
    load: async () => await import('./commands/confirm.ts'),
  },
  grant: {
    summary: 'Make the objects that let users bring namespaces under a policy, share or binding.',
    load: async () => await import('./commands/grant.ts'),
  },
  plan: {
    summary: 'Show what applying policies would change: objects created, updated, deleted or in conflict.',
    load: async () => await import('./commands/plan.ts'),
  },
  report: {
    summary: 'List everything that is not as policies want it, and everything that ends.',
    load: async () => await import('./commands/report.ts'),
  },
  import: {
    summary: 'Print the setup of an older tool as objects of Reeve, with the steps of the move.',
    load: async () => await import('./commands/import.ts'),
  },
  test: {
    summary: 'Test policies with suites of requests and expected answers.',
    load: async () => await import('./commands/test.ts'),
  },
  uninstall: {
    summary: 'Remove Reeve from a cluster, so that nothing of it blocks requests.',
    load: async () => await import('./commands/uninstall.ts'),
  },
  completion: {
    summary: 'Print the script with which a shell completes commands and flags.',
    load: async () => await import('./commands/completion.ts'),
  },
} as const satisfies CommandList;

// Reads the command and its settings.

type Called<L extends CommandList> = {
  readonly [K in keyof L & string]: Awaited<ReturnType<L[K]['load']>>['command'] extends MadeCommand<infer F>
    ? CalledCommand<K, F>
    : never;
};

/** The result of reading a command line with this list of commands. */
export type CommandOf<L extends CommandList> = Called<L>[keyof L & string] | SaidCommand;
export type Command = CommandOf<typeof commands>;

export async function readCommand(
  args: readonly string[] = process.argv.slice(2),
  env: Environment = process.env,
  program: string = programOf(process.argv[1]),
): Promise<Command> {
  return await readCommandOf(commands, args, env, program);
}

export async function readCommandOf<L extends CommandList>(
  list: L,
  args: readonly string[],
  env: Environment,
  program = 'reeve',
): Promise<CommandOf<L>> {
  // `reeve help plan` is `reeve plan --help`.
  const [name, ...rest] = args[0] === 'help' && args.length > 1 ? [...args.slice(1, 2), '--help'] : args;
  if (program === completer) return await completed(list, args);
  if (name === '__complete') return await completed(list, rest);
  const found = Object.entries(list).find(([each]) => each === name);
  if (found === undefined) return await saidWithout(list, name, program);
  const [known, { summary, load }] = found;
  const { command } = await load();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name has the settings of its own command
  return command.read(known, summary, { program, args: rest, env }) as CommandOf<L>;
}

/** Returns what the program prints without a command. */
async function saidWithout(
  list: CommandList,
  name: string | undefined,
  program: string,
): Promise<SaidCommand> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const summaries = Object.entries(list).map(([each, { summary }]) => [each, summary] as const);
    return { kind: 'help', text: overviewOf(program, summaries) };
  }
  if (name === '--version' || name === '-v' || name === 'version') {
    const { readProgramVersion } = await import('../app/shipped-files.ts');
    return { kind: 'help', text: `reeve ${readProgramVersion()}` };
  }
  const near = likelyMeant(name, Object.keys(list));
  const problem = `unknown command ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${near}?`}`;
  return { kind: 'wrong', problems: [problem], hint: `${program} --help`, code: exitCodes.wrongArguments };
}

/** Completes words for the scripts of shells, so the help does not name this command. Loads only the named command. */
async function completed(list: CommandList, words: readonly string[]): Promise<SaidCommand> {
  const { completionsOf, completionsText } = await import('./flags/completions.ts');
  const summaries = Object.entries(list).map(([name, { summary }]) => [name, summary] as const);
  const named = Object.entries(list).find(([name]) => name === words[0]);
  const table = (await named?.[1].load())?.command;
  return { kind: 'help', text: completionsText(completionsOf(words, summaries, table)) };
}

interface DescribedCommand {
  readonly name: string;
  readonly summary: string;
  readonly table: CommandTable;
}

/** Returns the tables of all commands, for the reference page. */
export async function describedCommands(list: CommandList = commands): Promise<readonly DescribedCommand[]> {
  return await Promise.all(
    Object.entries(list).map(async ([name, { summary, load }]) => {
      const { command: table } = await load();
      return { name, summary, table };
    }),
  );
}

/** kubectl calls a file of this name for the plugin `kubectl reeve`. */
const completer = 'kubectl_complete-reeve';

/** kubectl starts a plugin by the name of its file. https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/ */
function programOf(path = ''): string {
  if (path.endsWith(completer)) return completer;
  return /(?:^|[/\\])kubectl-reeve(?:\.[a-z]+)?$/.test(path) ? 'kubectl reeve' : 'reeve';
}
