// Two control planes that measurements share: one with Reeve as it ships, one for the baselines.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterBinary } from '../../cluster/binary.ts';
import { Guard } from '../../cluster/guard.ts';
import { installReeve, reeveNamespace } from '../../cluster/reeve-install.ts';
import { webhookIsAsked } from '../../support/reeve.ts';
import { RoleProcess } from '../role-process.ts';
import { BenchPlane } from './bench-plane.ts';
import { createNamespace, namespaceOf, sourceNamespace } from './plane-objects.ts';

export interface BenchPlanes extends AsyncDisposable {
  /** Has no webhook, no Reeve, and the namespaces of an install. */
  readonly bare: BenchPlane;
  readonly plane: BenchPlane;
  readonly reeve: BenchReeve;
  /** Waits until the reconciler runs, and has provided contents in at least so many namespaces and is done. */
  readonly filled: (count: number) => Promise<void>;
}

/** Starts both, and the webhook of Reeve on one of them. */
export async function startPlanes(binary: ClusterBinary, program: string): Promise<BenchPlanes> {
  await using stack = new AsyncDisposableStack();
  const bare = stack.use(await BenchPlane.start(binary));
  await prepareBare(bare);
  const plane = stack.use(await BenchPlane.start(binary));
  const reeve = stack.use(await BenchReeve.start(plane, program));
  const all = stack.move();
  const filled = async (count: number): Promise<void> => {
    await reeve.startReconciler();
    await plane.fill(count);
    await plane.settled();
  };
  return { bare, plane, reeve, filled, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Reeve on a plane: one process of each role, as in the image. */
export class BenchReeve {
  readonly #plane: BenchPlane;
  readonly #program: string;
  readonly #guard = new Guard();
  #webhook: RoleProcess | undefined;
  #reconciler: RoleProcess | undefined;

  private constructor(plane: BenchPlane, program: string) {
    this.#plane = plane;
    this.#program = program;
  }

  /** Installs Reeve and starts its webhook. */
  static async start(plane: BenchPlane, program: string): Promise<BenchReeve> {
    await installReeve(plane.cluster);
    const reeve = new BenchReeve(plane, program);
    try {
      reeve.#webhook = await reeve.#launch('webhook');
      await reeve.#webhook.ready();
      await webhookIsAsked(plane.cluster);
    } catch (error) {
      await reeve[Symbol.asyncDispose]();
      throw error;
    }
    return reeve;
  }

  /** Starts the reconciler unless it runs, and waits until it leads. */
  async startReconciler(): Promise<void> {
    const reconciler = (this.#reconciler ??= await this.#launch('reconciler'));
    await reconciler.ready();
    while ((await reconciler.sum('reeve_leader')) !== 1) await sleep(50);
  }

  async stopReconciler(): Promise<void> {
    await this.#reconciler?.stop();
    this.#reconciler = undefined;
  }

  /** Returns the new process before it is ready. */
  async restartReconciler(): Promise<RoleProcess> {
    await this.stopReconciler();
    return (this.#reconciler = await this.#launch('reconciler'));
  }

  /** Returns the processor time of the webhook and of the reconciler so far. */
  processorMs(): readonly number[] {
    return this.#processes.map((each) => each.processorMs());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.stop()));
    await this.#guard.end();
  }

  get #processes(): readonly RoleProcess[] {
    return [this.#webhook, this.#reconciler].filter((each) => each !== undefined);
  }

  async #launch(role: 'webhook' | 'reconciler'): Promise<RoleProcess> {
    const [cluster, guard, program] = [this.#plane.cluster, this.#guard, this.#program];
    return await RoleProcess.start({ role, cluster, guard, program });
  }
}

/** Creates what `installReeve` creates on the other plane: the namespaces, and the Service of a webhook. */
async function prepareBare(plane: BenchPlane): Promise<void> {
  for (const name of [sourceNamespace, reeveNamespace])
    await plane.calls.mustSend(createNamespace(namespaceOf(name, {})));
  await plane.create(`/api/v1/namespaces/${reeveNamespace}/services`, {
    metadata: { name: 'reeve-webhook' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
}
