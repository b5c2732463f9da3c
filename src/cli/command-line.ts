// Reads the command and its settings. Only this file reads the arguments and environment of the process.
import { row, unknownCommand, type Given, type Row, type SaidCommand } from './command-row.ts';
import { exitCodes } from './exit-codes.ts';
import type { AdoptFlags } from './flags/adopt-settings.ts';
import type { CertsFlags } from './flags/certs-settings.ts';
import type { CheckFlags } from './flags/check-settings.ts';
import type { ExplainFlags } from './flags/explain-settings.ts';
import type { ConfirmFlags } from './flags/confirm-settings.ts';
import type { GrantFlags } from './flags/grant-settings.ts';
import { overviewOf } from './flags/help-text.ts';
import type { PlanFlags } from './flags/plan-settings.ts';
import type { ReportFlags } from './flags/report-settings.ts';
import type { ImportFlags } from './flags/import-settings.ts';
import type { RunFlags } from './flags/run-settings.ts';
import type { ServeFlags } from './flags/serve-settings.ts';
import type { CommandTable, Environment } from './flags/settings.ts';
import type { TestFlags } from './flags/test-settings.ts';
import type { UninstallFlags } from './flags/uninstall-settings.ts';
import type { UpFlags } from './flags/up-settings.ts';

/** The settings of each command that does more than print a text. */
interface CommandFlags {
  readonly up: UpFlags;
  readonly run: RunFlags;
  readonly serve: ServeFlags;
  readonly certs: CertsFlags;
  readonly check: CheckFlags;
  readonly explain: ExplainFlags;
  readonly adopt: AdoptFlags;
  readonly confirm: ConfirmFlags;
  readonly grant: GrantFlags;
  readonly plan: PlanFlags;
  readonly report: ReportFlags;
  readonly import: ImportFlags;
  readonly test: TestFlags;
  readonly uninstall: UninstallFlags;
}

type Called = {
  readonly [K in keyof CommandFlags]: Given & { readonly kind: K; readonly settings: CommandFlags[K] };
};

export type Command = Called[keyof Called] | SaidCommand;

const commands = {
  up: row(
    'Try Reeve on a sandbox in this process, with a feed of its decisions and writes.',
    async () => (await import('./flags/up-settings.ts')).upForm,
    (settings, given) => ({ kind: 'up', settings, ...given }),
  ),
  run: row(
    'Run on a cluster: answer admission reviews, and create and keep the contents of namespaces.',
    async () => (await import('./flags/run-settings.ts')).runForm,
    (settings, given) => ({ kind: 'run', settings, ...given }),
  ),
  serve: row(
    'Answer admission reviews for a folder of policies, without a cluster.',
    async () => (await import('./flags/serve-settings.ts')).serveForm,
    (settings, given) => ({ kind: 'serve', settings, ...given }),
  ),
  certs: row(
    'Create a certificate authority and a serving certificate, and print the caBundle.',
    async () => (await import('./flags/certs-settings.ts')).certsForm,
    (settings, given) => ({ kind: 'certs', settings, ...given }),
  ),
  check: row(
    'Find what is wrong with policies in files, or what of an install on a cluster does not work.',
    async () => (await import('./flags/check-settings.ts')).checkForm,
    (settings, given) => ({ kind: 'check', settings, ...given }),
  ),
  explain: row(
    'Say why a namespace, an object or a policy is as it is, or why a request is refused.',
    async () => (await import('./flags/explain-settings.ts')).explainForm,
    (settings, given) => ({ kind: 'explain', settings, ...given }),
  ),
  adopt: row(
    'Mark existing objects for adoption by a policy or share, after showing them.',
    async () => (await import('./flags/adopt-settings.ts')).adoptForm,
    (settings, given) => ({ kind: 'adopt', settings, ...given }),
  ),
  confirm: row(
    'Confirm deletions that a policy, share or binding holds back, after showing them.',
    async () => (await import('./flags/confirm-settings.ts')).confirmForm,
    (settings, given) => ({ kind: 'confirm', settings, ...given }),
  ),
  grant: row(
    'Make the objects that let users bring namespaces under a policy, share or binding.',
    async () => (await import('./flags/grant-settings.ts')).grantForm,
    (settings, given) => ({ kind: 'grant', settings, ...given }),
  ),
  plan: row(
    'Show what applying policies would change: objects created, updated, deleted or in conflict.',
    async () => (await import('./flags/plan-settings.ts')).planForm,
    (settings, given) => ({ kind: 'plan', settings, ...given }),
  ),
  report: row(
    'List everything that is not as policies want it, and everything that ends.',
    async () => (await import('./flags/report-settings.ts')).reportForm,
    (settings, given) => ({ kind: 'report', settings, ...given }),
  ),
  import: row(
    'Print the setup of an older tool as objects of Reeve, with the steps of the move.',
    async () => (await import('./flags/import-settings.ts')).importForm,
    (settings, given) => ({ kind: 'import', settings, ...given }),
  ),
  test: row(
    'Test policies with suites of requests and expected answers.',
    async () => (await import('./flags/test-settings.ts')).testForm,
    (settings, given) => ({ kind: 'test', settings, ...given }),
  ),
  uninstall: row(
    'Remove Reeve from a cluster, so that nothing of it blocks requests.',
    async () => (await import('./flags/uninstall-settings.ts')).uninstallForm,
    (settings, given) => ({ kind: 'uninstall', settings, ...given }),
  ),
  completion: row(
    'Print the script with which a shell completes commands and flags.',
    async () => (await import('./flags/completion-settings.ts')).completionForm,
    async (_settings, { positionals: [shell = ''] }) => {
      const { completionScript } = await import('./flags/completion-settings.ts');
      return { kind: 'help', text: completionScript(shell) };
    },
  ),
} satisfies Readonly<Record<string, Row<Command>>>;

export async function readCommand(
  args: readonly string[] = process.argv.slice(2),
  env: Environment = process.env,
  program: string = programOf(process.argv[1]),
): Promise<Command> {
  // `reeve help plan` is `reeve plan --help`.
  const [name, ...rest] = args[0] === 'help' && args.length > 1 ? [...args.slice(1, 2), '--help'] : args;
  if (program === completer) return await completed(args);
  if (name === '__complete') return await completed(rest);
  const known = Object.entries<Row<Command>>(commands);
  const found = known.find(([each]) => each === name);
  if (found !== undefined) return await found[1].read(found[0], { program, args: rest, env });
  return await saidWithout(
    name,
    program,
    known.map(([each, { summary }]) => [each, summary]),
  );
}

/** What the program prints where no command is named. */
async function saidWithout(
  name: string | undefined,
  program: string,
  known: readonly (readonly [name: string, summary: string])[],
): Promise<SaidCommand> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h')
    return { kind: 'help', text: overviewOf(program, known) };
  if (name === '--version' || name === '-v' || name === 'version') {
    const { readProgramVersion } = await import('../app/shipped-files.ts');
    return { kind: 'help', text: `reeve ${await readProgramVersion()}` };
  }
  const names = known.map(([each]) => each);
  const problems = [unknownCommand(name, names)];
  return { kind: 'wrong', problems, hint: `${program} --help`, code: exitCodes.wrongArguments };
}

/** Scripts of shells call this, so the help does not name it. */
async function completed(words: readonly string[]): Promise<Command> {
  const { completionsOf, completionsText } = await import('./flags/completions.ts');
  return { kind: 'help', text: completionsText(completionsOf(words, await describedCommands())) };
}

export interface DescribedCommand {
  readonly name: string;
  readonly summary: string;
  readonly form: CommandTable;
}

/** Returns the tables of all commands, for the reference page and completion. */
export async function describedCommands(): Promise<readonly DescribedCommand[]> {
  const rows = Object.entries<Row<Command>>(commands);
  return await Promise.all(
    rows.map(async ([name, { summary, load }]) => ({ name, summary, form: await load() })),
  );
}

/** kubectl calls a file of this name for the plugin `kubectl reeve`. */
const completer = 'kubectl_complete-reeve';

/** kubectl starts a plugin by the name of its file. https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/ */
function programOf(path = ''): string {
  if (path.endsWith(completer)) return completer;
  return /(?:^|[/\\])kubectl-reeve(?:\.[a-z]+)?$/.test(path) ? 'kubectl reeve' : 'reeve';
}
