// Runs the real kubectl as a user would, without the environment of the person who runs the tests.
import { dirname, join } from 'node:path';
import { runProgram, type ProgramOutput } from './run-program.ts';

export interface KubectlOptions {
  readonly kubeconfig: string;
  /** The standard input, for `-f -`. */
  readonly input?: string;
  /** The user and groups for impersonation, as `--as` and `--as-group`. */
  readonly as?: string;
  readonly asGroup?: readonly string[];
  /** Default: the root of the repository, so that paths are those of its documents. */
  readonly cwd?: string;
  /** The shell command that `kubectl edit` runs on the file. */
  readonly editor?: string;
}

// Ends a `wait` or a `watch` that would never end. No test waits nearly as long.
const patienceMs = 120_000;

/** Rejects only when kubectl is not on the PATH. The caller judges the exit code and the output. */
export async function kubectl(args: readonly string[], options: KubectlOptions): Promise<ProgramOutput> {
  return await runProgram('kubectl', [...impersonation(options), ...args], {
    cwd: options.cwd ?? join(import.meta.dirname, '..', '..'),
    env: {
      ...kubectlEnvironment(options.kubeconfig),
      // kubectl runs briefly, and garbage collection costs a third of an apply. https://pkg.go.dev/runtime#hdr-Environment_Variables
      GOGC: '400',
      ...(options.editor === undefined ? {} : { KUBE_EDITOR: options.editor }),
    },
    input: options.input ?? '',
    timeout: patienceMs,
  });
}

/** Runs a step that prepares a test. Returns the output of kubectl, or throws an error that quotes it. */
export async function mustKubectl(args: readonly string[], options: KubectlOptions): Promise<string> {
  const { code, stdout, stderr } = await kubectl(args, options);
  if (code === 0) return stdout;
  throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
}

/** Returns the variables that kubectl needs. It keeps its discovery cache in HOME, and looks there for its kuberc. */
export function kubectlEnvironment(kubeconfig: string): NodeJS.ProcessEnv {
  const HOME = join(dirname(kubeconfig), 'kubectl-home');
  return { PATH: process.env['PATH'], KUBECONFIG: kubeconfig, HOME };
}

function impersonation({ as, asGroup = [] }: KubectlOptions): readonly string[] {
  return [...(as === undefined ? [] : [`--as=${as}`]), ...asGroup.map((group) => `--as-group=${group}`)];
}
