// Starts a role of Reeve as in a Pod, with the service account of the role.
//
// The program is the bundle of the image with its flags and its compile cache, on the Node of this clone instead of the image's.
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { writeCompileCache } from '../../build/compile-cache.ts';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { freePorts } from '../cluster/ports.ts';
import { roleKubeconfig, type Role } from '../cluster/reeve-rights.ts';
import { send } from '../cluster/admin-client.ts';
import { imageNodeFlags } from '../image/node-flags.ts';
import type { BenchContext } from './row.ts';
import { startReeveServer, type BenchServer } from './server-process.ts';

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A copy of the program that finds the service account of the role in a folder of the bench. Returns its main file. */
export async function podProgram(context: BenchContext, cluster: ClusterAccess, role: Role): Promise<string> {
  const kubeconfig = JSON.parse(readFileSync(await roleKubeconfig(cluster, role), 'utf8')) as {
    readonly users: readonly { readonly user: { readonly token: string } }[];
  };
  const [root, account] = [join(context.folder, `pod-${role}`), join(context.folder, `account-${role}`)];
  mkdirSync(account);
  writeFileSync(join(account, 'token'), kubeconfig.users[0]?.user.token ?? '');
  cpSync(cluster.caFile, join(account, 'ca.crt'));
  const main = await context.program();
  const dist = join(root, 'dist');
  cpSync(join(dirname(main), '../..'), root, { recursive: true, dereference: true });
  for (const file of globSync(join(dist, 'bin/*.cjs'))) {
    const code = readFileSync(file, 'utf8');
    if (code.includes(accountFolder)) writeFileSync(file, code.replaceAll(accountFolder, account));
  }
  writeCompileCache(dist, imageNodeFlags(), process.getuid?.() ?? 0);
  return join(dist, 'bin/main.cjs');
}

/** Resolves when the role is ready. */
export async function startPod(
  context: BenchContext,
  cluster: ClusterAccess,
  role: Role,
  main: string,
): Promise<BenchServer> {
  const [port = 0, probesPort = 0] = await freePorts(2);
  const { hostname, port: apiPort } = new URL(cluster.server);
  const flags = [
    `--port=${port}`,
    `--probes-port=${probesPort}`,
    `--service-port=${port}`,
    '--host=127.0.0.1',
  ];
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: apiPort };
  const own: BenchContext = { ...context, program: async () => await Promise.resolve(main) };
  const pod = await startReeveServer(own, ['run', `--role=${role}`, ...flags], env);
  while ((await send(`http://127.0.0.1:${probesPort}/readyz`, {})).status !== 200) await setTimeout(20);
  return pod;
}
