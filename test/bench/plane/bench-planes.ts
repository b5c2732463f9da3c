// Two control planes for each measurement: one with Reeve as it ships, one for the baselines.
import { setTimeout as sleep } from 'node:timers/promises';
import { Guard } from '../../cluster/guard.ts';
import { installReeve, reeveNamespace } from '../../cluster/reeve-install.ts';
import { webhookIsAsked } from '../../support/reeve.ts';
import type { BenchContext } from '../row.ts';
import { SizedProcess } from '../sized-process.ts';
import { BenchPlane } from './bench-plane.ts';
import { createNamespace, namespaceOf, sourceNamespace } from './plane-objects.ts';

export interface BenchPlanes extends AsyncDisposable {
  /** Has no webhook, no Reeve, and the namespaces of an install. */
  readonly bare: BenchPlane;
  readonly plane: BenchPlane;
  readonly reeve: BenchReeve;
}

/** Starts both, and the webhook of Reeve on one of them. */
export async function startPlanes(context: BenchContext): Promise<BenchPlanes> {
  await using stack = new AsyncDisposableStack();
  const binary = await context.controlPlane();
  const bare = stack.use(await BenchPlane.start(binary));
  await prepareBare(bare);
  const plane = stack.use(await BenchPlane.start(binary));
  const reeve = stack.use(await BenchReeve.start(plane, await context.program()));
  const all = stack.move();
  return { bare, plane, reeve, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Reeve on a plane: one process of each role, as in the image. */
export class BenchReeve {
  readonly plane: BenchPlane;
  readonly #program: string;
  readonly #guard = new Guard();
  readonly #processes: SizedProcess[] = [];

  private constructor(plane: BenchPlane, program: string) {
    this.plane = plane;
    this.#program = program;
  }

  /** Installs Reeve and starts its webhook. */
  static async start(plane: BenchPlane, program: string): Promise<BenchReeve> {
    await installReeve(plane.cluster);
    const reeve = new BenchReeve(plane, program);
    try {
      await reeve.#startRole('webhook');
      await webhookIsAsked(plane.cluster);
    } catch (error) {
      await reeve[Symbol.asyncDispose]();
      throw error;
    }
    return reeve;
  }

  /** Starts the reconciler, and waits until it leads. */
  async startReconciler(): Promise<void> {
    const reconciler = await this.#startRole('reconciler');
    while ((await reconciler.sum('reeve_leader')) !== 1) await sleep(50);
  }

  /** Returns the processor time of each process so far. */
  processorMs(): readonly number[] {
    return this.#processes.map((each) => each.processorMs());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.stop()));
    await this.#guard.end();
  }

  async #startRole(role: 'webhook' | 'reconciler'): Promise<SizedProcess> {
    const started = await SizedProcess.start(role, role, this.plane.cluster, this.#guard, this.#program);
    this.#processes.push(started);
    await started.ready();
    return started;
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
