// A control plane of its own for each program that is compared, and Reeve on it.
import { startControlPlane, type ControlPlane } from '../../cluster/control-plane.ts';
import { Guard } from '../../cluster/guard.ts';
import { freePorts } from '../../cluster/ports.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { roleKubeconfig } from '../../cluster/reeve-rights.ts';
import { ApiCalls } from '../../soak/api-calls.ts';
import { flagsOf, webhookIsAsked } from '../../support/reeve.ts';
import type { BenchContext } from '../row.ts';
import { startReeveServer, type BenchServer } from '../server-process.ts';

export class PeerPlane {
  readonly cluster: ControlPlane;
  readonly calls: ApiCalls;
  readonly guard = new Guard();

  private constructor(cluster: ControlPlane, calls: ApiCalls) {
    this.cluster = cluster;
    this.calls = calls;
  }

  static async start(context: BenchContext): Promise<PeerPlane> {
    const cluster = await startControlPlane({ binary: await context.controlPlane(), audit: false });
    // They would write two objects for each new namespace at the same time.
    cluster.pause('controllers');
    return new PeerPlane(cluster, await ApiCalls.of(cluster));
  }

  async create(path: string, body: object): Promise<void> {
    await this.calls.mustSend({ method: 'POST', path, body });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.calls.close();
    this.cluster.resume('controllers');
    await this.cluster.stop();
    await this.guard.end();
  }
}

export interface RunningReeve extends AsyncDisposable {
  readonly webhook: BenchServer;
  readonly reconciler: BenchServer;
}

/** One process of each role, as in the image. */
export async function startReeveRoles(context: BenchContext, plane: PeerPlane): Promise<RunningReeve> {
  await installReeve(plane.cluster);
  const start = async (role: 'webhook' | 'reconciler'): Promise<BenchServer> => {
    const [port = 0, probesPort = 0] = await freePorts(2);
    const kubeconfig = await roleKubeconfig(plane.cluster, role);
    const flags = flagsOf({ role, kubeconfig, port, probesPort, servicePort: port });
    return await startReeveServer(context, [...flags, '--log-level=info']);
  };
  const webhook = await start('webhook');
  await webhookIsAsked(plane.cluster);
  const reconciler = await start('reconciler');
  const end = async (): Promise<void> => {
    await reconciler[Symbol.asyncDispose]();
    await webhook[Symbol.asyncDispose]();
  };
  return { webhook, reconciler, [Symbol.asyncDispose]: end };
}
