// Runs `kubectl get --watch` beside a test, and keeps every line that it prints.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { kubectlEnvironment } from '../../support/kubectl.ts';
import { until } from '../../support/until.ts';

export interface KubectlWatch extends AsyncDisposable {
  readonly lines: readonly string[];
}

/** Resolves with the first line, so the watch sees every later change. `format` is a JSONPath for one line. */
export async function watchWithKubectl(
  { kubeconfig }: { readonly kubeconfig: string },
  what: readonly string[],
  format: string,
): Promise<KubectlWatch> {
  const child = spawn('kubectl', ['get', ...what, '--watch', `-o=jsonpath=${format}{"\\n"}`], {
    env: kubectlEnvironment(kubeconfig),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const closed = once(child, 'close');
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const watch: KubectlWatch = {
    get lines() {
      return text.split('\n').slice(0, -1);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
  await until(
    () => Promise.resolve(watch.lines.length > 0),
    () => `kubectl prints ${what.join(' ')}`,
  );
  return watch;
}
