// Finds free loopback ports that no other program takes by chance.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below the ephemeral range (Linux: from 32768 on), so that a port is still free when its server starts, and when
 * the server starts again after an outage. Test files run in processes of their own, and each process takes ports of one
 * slice, so that two files that start at the same time rarely choose the same port.
 */
const slices = 12;
const sliceSize = 1000;
const lowest = 20_000 + (process.pid % slices) * sliceSize;

export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(lowest, lowest + sliceSize);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
