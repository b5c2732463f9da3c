// Runs the commands whose result is what they print. Each is loaded when it runs.
import type { Clock } from '../base/clock.ts';
import type { Command } from './command-line.ts';
import { cleanText } from './output/clean-text.ts';
import { noProgress, startedProgress, type Progress } from './output/progress.ts';

export interface ToolIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Returns all of standard input. */
  readonly stdin: () => Promise<string>;
  /** Returns the line that the user types. Undefined without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  readonly clock: Clock;
  /** Without a listener, a signal ends the process. */
  readonly onSignal: (listener: () => void) => void;
  /** True if standard output is a terminal. */
  readonly isTerminal: boolean;
  /** True if standard error is a terminal, so that progress may be shown there. */
  readonly showsProgress: boolean;
}

type ByKind = { readonly [C in Command as C['kind']]: C };
type ToolKind = Exclude<Command['kind'], 'up' | 'run' | 'serve' | 'help' | 'wrong'>;
export type Tool = ByKind[ToolKind];

type Given = ToolIo & { readonly progress: Progress; readonly isColored: boolean };

const tools: { readonly [K in ToolKind]: (command: ByKind[K], io: Given) => Promise<number> } = {
  adopt: async ({ settings, environment }, io) =>
    await (await import('./commands/adopt.ts')).runAdopt(settings, environment, io),
  certs: async ({ settings }, io) => await (await import('./certs.ts')).runCerts(settings, io),
  check: async ({ settings, environment }, io) =>
    settings.filename.length > 0
      ? await (await import('./check-files.ts')).runCheckFiles(settings, environment, io)
      : await (await import('./check.ts')).runCheck(settings, environment, io),
  explain: async ({ settings, positionals, environment }, io) =>
    await (await import('./commands/explain.ts')).runExplain(settings, positionals, environment, io),
  confirm: async ({ settings, positionals, environment }, io) =>
    await (await import('./commands/confirm.ts')).runConfirm(settings, positionals, environment, io),
  grant: async ({ settings, positionals, environment }, io) =>
    await (await import('./commands/grant.ts')).runGrant(settings, positionals, environment, io),
  plan: async ({ settings, environment }, io) =>
    await (await import('./commands/plan.ts')).runPlan(settings, environment, io),
  report: async ({ settings, environment }, io) =>
    await (await import('./commands/report.ts')).runReport(settings, environment, io),
  import: async ({ settings, positionals: [source = ''], environment }, io) =>
    await (await import('./commands/import.ts')).runImport({ ...settings, source }, environment, io),
  test: async ({ settings, positionals }, io) =>
    await (await import('./commands/test.ts')).runTest(settings, positionals, io),
  uninstall: async ({ settings, environment }, io) =>
    await (await import('./uninstall.ts')).runUninstall(settings, environment, io),
};

/** Returns the exit code. */
export async function runTool(command: Tool, io: ToolIo): Promise<number> {
  const progress = io.showsProgress ? startedProgress(io.stderr, io.clock) : noProgress;
  const isColored = command.mayColor && io.isTerminal;
  const { settings } = command;
  const givesCommands = 'output' in settings && settings.output === 'github';
  const clean = (text: string): string => cleanText(text, { isColored, givesCommands: false });
  return await run(command.kind, command, {
    ...io,
    stdout: (text) => io.stdout(cleanText(text, { isColored, givesCommands })),
    stderr: (text) => io.stderr(clean(text)),
    progress,
    isColored,
  });
}

/** The compiler knows that the row of a kind fits a command of that kind only where the kind is a type parameter. */
async function run<K extends ToolKind>(kind: K, command: ByKind[K], io: Given): Promise<number> {
  return await tools[kind](command, io);
}
