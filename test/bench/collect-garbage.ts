// Lets a process of Node collect its garbage when the bench says so, because memory before a collection is chance.
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The process runs with `--inspect` on this port.
 * https://chromedevtools.github.io/devtools-protocol/tot/HeapProfiler/#method-collectGarbage
 */
export async function collectGarbage(port: number): Promise<void> {
  const targets = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const [target] = targets as [{ webSocketDebuggerUrl: string }];
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
}

async function event(socket: WebSocket, name: 'open' | 'message'): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.addEventListener(name, () => resolve(), { once: true });
  socket.addEventListener('error', () => reject(new Error('the inspector does not answer')), { once: true });
  await promise;
}
