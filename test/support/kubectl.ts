// Runs the real kubectl as a user would, without the environment of the person who runs the tests.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface KubectlOptions {
  readonly kubeconfig: string;
  /** For `-f -`. */
  readonly input?: string;
  /** Impersonation, as `--as` and `--as-group`. */
  readonly as?: string;
  readonly asGroup?: readonly string[];
  /** Default: the root of the repository, so that files are named as in its documents. */
  readonly cwd?: string;
  /** What `kubectl edit` hands the file to: a command for the shell. */
  readonly editor?: string;
}

export interface KubectlOutput {
  /** null when it was ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

// For a `wait` or a `watch` that would never end; far more than any test waits.
const patienceMs = 120_000;

/** Rejects only when there is no kubectl on the PATH; what it says is for the caller to judge. */
export async function kubectl(args: readonly string[], options: KubectlOptions): Promise<KubectlOutput> {
  const child = spawn('kubectl', [...impersonation(options), ...args], {
    cwd: options.cwd ?? join(import.meta.dirname, '..', '..'),
    env: {
      PATH: process.env['PATH'],
      KUBECONFIG: options.kubeconfig,
      // It is over soon: of what an apply costs, a third is to tidy up memory meanwhile. https://pkg.go.dev/runtime#hdr-Environment_Variables
      GOGC: '400',
      // Its cache of what the API server offers, and the kuberc that it may look for.
      HOME: join(dirname(options.kubeconfig), 'kubectl-home'),
      ...(options.editor === undefined ? {} : { KUBE_EDITOR: options.editor }),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: patienceMs,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', () => reject(new Error('kubectl could not be run: is it on the PATH?')));
    child.on('close', resolve);
  });
  // It may end without having read its input.
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

/** For the steps that only prepare a test: its output, or an error with what it said. */
export async function mustKubectl(args: readonly string[], options: KubectlOptions): Promise<string> {
  const { code, stdout, stderr } = await kubectl(args, options);
  if (code === 0) return stdout;
  throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
}

function impersonation({ as, asGroup = [] }: KubectlOptions): readonly string[] {
  return [...(as === undefined ? [] : [`--as=${as}`]), ...asGroup.map((group) => `--as-group=${group}`)];
}
