// `npm run --silent cluster -- up|down|kubeconfig`: a control plane for people, which keeps running in the background.
//
// Only the path of the kubeconfig goes to stdout, so that a script can read it. All other output goes to stderr.
import { clusterDown, clusterUp, runningCluster } from './dev-cluster.ts';
import { reeveUp } from './dev-reeve.ts';

const usage = `usage: npm run --silent cluster -- up [--reeve] | down | kubeconfig
  up           starts it and returns when it is ready; the last line is the path of the administrator's kubeconfig
  up --reeve   also installs Reeve on it, and runs it from source; starts Reeve again when it has ended
  down         stops it, and removes all that belongs to it
  kubeconfig   prints the path again
`;

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function up(withReeve: boolean): Promise<number> {
  const cluster = await clusterUp(say);
  if (withReeve) await reeveUp(cluster, say);
  process.stdout.write(`${cluster.kubeconfig}\n`);
  return 0;
}

async function down(): Promise<number> {
  say((await clusterDown()) ? 'stopped, and its folder removed' : 'no control plane runs');
  return 0;
}

async function kubeconfig(): Promise<number> {
  const cluster = await runningCluster();
  if (cluster === undefined) {
    say('no control plane runs: npm run --silent cluster -- up');
    return 1;
  }
  process.stdout.write(`${cluster.kubeconfig}\n`);
  return 0;
}

async function run(args: readonly string[]): Promise<number> {
  switch (args.join(' ')) {
    case 'up':
      return await up(false);
    case 'up --reeve':
      return await up(true);
    case 'down':
      return await down();
    case 'kubeconfig':
      return await kubeconfig();
    default:
      process.stderr.write(usage);
      return 2;
  }
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
