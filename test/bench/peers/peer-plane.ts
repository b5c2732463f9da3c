// A control plane of its own for each program that is compared, and Reeve on it.
import { startControlPlane, type ControlPlane } from '../../cluster/control-plane.ts';
import { Guard } from '../../cluster/guard.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { ApiCalls } from '../../soak/api-calls.ts';
import { webhookIsAsked } from '../../support/reeve.ts';
import { RoleProcess } from '../role-process.ts';
import type { BenchContext } from '../row.ts';
import { serverCore } from '../cores.ts';

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

/** One process of each role, as in the image. */
export async function startReeveRoles(context: BenchContext, plane: PeerPlane): Promise<AsyncDisposable> {
  const { cluster, guard } = plane;
  await installReeve(cluster);
  const program = await context.program();
  const start = async (role: 'webhook' | 'reconciler'): Promise<RoleProcess> => {
    const started = await RoleProcess.start({ role, cluster, guard, program, core: serverCore });
    await started.ready();
    return started;
  };
  const webhook = await start('webhook');
  await webhookIsAsked(cluster);
  const reconciler = await start('reconciler');
  const end = async (): Promise<void> => {
    await reconciler.stop();
    await webhook.stop();
  };
  return { [Symbol.asyncDispose]: end };
}
