// `npm run --silent cluster -- up|down|kubeconfig`: a cluster for people, which keeps running in the background.
//
// Only the path of the kubeconfig goes to stdout, so that a script can read it. All other output goes to stderr.
import { parseArgs } from 'node:util';
import { clusterDown, clusterUp, runningCluster } from './dev-cluster.ts';
import { reeveUp } from './dev-reeve.ts';
import { rigDown, rigUp, runningRig } from './node/dev-rig.ts';
import { installOnRig } from './node/rig-reeve.ts';

const usage = `usage: npm run --silent cluster -- up [--node[=N]] [--reeve] | down | kubeconfig
  up           starts a control plane and returns when it is ready; the last line is the path of the administrator's kubeconfig
  up --reeve   also installs Reeve on it, and runs it from source; starts Reeve again when it has ended
  up --node    starts a control plane with a real node, as root on Linux; --node=2 with two, and so on; up to 8
  up --node --reeve
               also builds the image of Reeve, and installs Reeve in Pods
  down         stops all of it, and removes all that belongs to it
  kubeconfig   prints the path again
`;

const maxNodes = 8;

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function up(nodes: number, withReeve: boolean): Promise<number> {
  if (nodes > 0) {
    const rig = await rigUp(nodes, say);
    if (withReeve) await installOnRig(rig, say);
    process.stdout.write(`${rig.cluster.kubeconfig}\n`);
    return 0;
  }
  const cluster = await clusterUp(say);
  if (withReeve) await reeveUp(cluster, say);
  process.stdout.write(`${cluster.kubeconfig}\n`);
  return 0;
}

async function down(): Promise<number> {
  const ended = [await rigDown(), await clusterDown()];
  say(ended.includes(true) ? 'stopped, and its folder removed' : 'no control plane runs');
  return 0;
}

/** Prints the kubeconfig of the rig if one runs, otherwise that of the control plane without nodes. */
async function kubeconfig(): Promise<number> {
  const cluster = (await runningRig())?.cluster ?? (await runningCluster());
  if (cluster === undefined) {
    say('no control plane runs: npm run --silent cluster -- up');
    return 1;
  }
  process.stdout.write(`${cluster.kubeconfig}\n`);
  return 0;
}

/** Returns undefined for arguments that mean nothing. */
function commandOf(args: readonly string[]): (() => Promise<number>) | undefined {
  // parseArgs has no option with an optional value.
  const given = args.map((word) => (word === '--node' ? '--node=1' : word));
  const options = {
    node: { type: 'string', default: '0' },
    reeve: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parseArgs({ args: given, options, allowPositionals: true });
  const nodes = Number(values.node);
  const isUp = positionals.join(' ') === 'up' && Number.isInteger(nodes) && nodes >= 0 && nodes <= maxNodes;
  if (isUp) return () => up(nodes, values.reeve);
  switch (args.join(' ')) {
    case 'down':
      return down;
    case 'kubeconfig':
      return kubeconfig;
    default:
      return undefined;
  }
}

async function run(args: readonly string[]): Promise<number> {
  let command: ReturnType<typeof commandOf>;
  try {
    command = commandOf(args);
  } catch {
    // parseArgs names the option that it does not know; the usage names all others.
  }
  if (command !== undefined) return await command();
  process.stderr.write(usage);
  return 2;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
