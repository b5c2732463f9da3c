// A reconciler that collects its garbage when the bench says so, because memory before a collection is chance.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import type { Guard } from '../cluster/guard.ts';
import { freePorts } from '../cluster/ports.ts';
import { SizedProcess } from './sized-process.ts';

export interface Memory {
  /** In MiB. */
  readonly heap: number;
  readonly resident: number;
}

export class CollectedProcess {
  readonly process: SizedProcess;
  readonly #inspector: string;

  private constructor(process: SizedProcess, inspector: string) {
    this.process = process;
    this.#inspector = inspector;
  }

  static async start(cluster: ClusterAccess, guard: Guard, program: string): Promise<CollectedProcess> {
    const [port = 0] = await freePorts(1);
    const flags = [`--inspect=127.0.0.1:${port}`];
    const process = await SizedProcess.start('reconciler', 'reconciler', cluster, guard, program, flags);
    return new CollectedProcess(process, `http://127.0.0.1:${port}/json`);
  }

  /** https://chromedevtools.github.io/devtools-protocol/tot/HeapProfiler/#method-collectGarbage */
  async memory(): Promise<Memory> {
    const [target] = (await (await fetch(this.#inspector)).json()) as [{ webSocketDebuggerUrl: string }];
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await event(socket, 'open');
    // Twice: finalizers that run after the first collection free more.
    for (const id of [1, 2]) {
      const answered = event(socket, 'message');
      socket.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }));
      await answered;
    }
    socket.close();
    // The pages of the old heap are given back in the background.
    await sleep(1000);
    const { heap, rss } = await this.process.use();
    return { heap, resident: rss };
  }
}

async function event(socket: WebSocket, name: 'open' | 'message'): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.addEventListener(name, () => resolve(), { once: true });
  socket.addEventListener('error', () => reject(new Error('the inspector does not answer')), { once: true });
  await promise;
}
