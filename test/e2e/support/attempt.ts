// Runs a kubectl command as a dry run and for real. Both must have the same result. The sandbox runs it for real only.
import { expect } from 'vitest';
import { kubectl, mustKubectl, type KubectlOptions } from '../../support/kubectl.ts';
import type { ProgramOutput } from '../../support/run-program.ts';
import { isOnSandbox } from '../../support/shared-cluster.ts';

export interface Command {
  readonly args: readonly string[];
  /** The standard input, for `-f -`. */
  readonly input?: string;
  /** True for a command without a dry run, such as --raw. */
  readonly isReal?: boolean;
}

/** Returns the refusal without kubectl's prefix. Fails when the command or its dry run was not refused. */
export async function refused(command: Command, who: KubectlOptions): Promise<string> {
  const outputs = await Promise.all(runs(command).map((run) => attempt(run, who)));
  const [said = '', ...others] = outputs.map((output) => wordsOf(command, output));
  for (const other of others) expect(other, 'the dry run').toBe(said);
  return said;
}

/** Returns the warnings that kubectl printed. */
export async function allowed(command: Command, who: KubectlOptions): Promise<string> {
  const heard: string[] = [];
  for (const run of runs(command)) {
    const { code, stderr } = await attempt(run, who);
    expect(code, `it was to be allowed: ${run.args.join(' ')}\n${stderr}`).toBe(0);
    heard.push(stderr);
  }
  const [said = '', ...others] = heard;
  for (const other of others) expect(other, 'the dry run').toBe(said);
  return said;
}

/** Returns the result of a dry run, for tests that wait until the webhook has learned something from a watch. */
export async function dryRun(command: Command, who: KubectlOptions): Promise<ProgramOutput> {
  return await attempt(dry(command), who);
}

/** Runs a step that only prepares a test. */
export async function must(command: Command, who: KubectlOptions): Promise<string> {
  return await mustKubectl(command.args, optionsOf(command, who));
}

function runs(command: Command): readonly Command[] {
  return command.isReal === true || isOnSandbox() ? [command] : [dry(command), command];
}

function dry(command: Command): Command {
  return { ...command, args: [...command.args, '--dry-run=server'] };
}

/** Runs the command once, for real. */
export async function attempt(command: Command, who: KubectlOptions): Promise<ProgramOutput> {
  return await kubectl(command.args, optionsOf(command, who));
}

function optionsOf({ input }: Command, who: KubectlOptions): KubectlOptions {
  return input === undefined ? who : { ...who, input };
}

function wordsOf({ args }: Command, { code, stderr }: ProgramOutput): string {
  expect(code, `it was to be refused: ${args.join(' ')}\n${stderr}`).toBe(1);
  return stderr.trimEnd().replace(/^(?:.*\n)*?.* denied the request: /, '');
}
