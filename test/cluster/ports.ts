// Finds free loopback ports that nothing else will take by chance.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * From below the ports that systems hand out by themselves (Linux: from 32768 on), so that a port is still free when
 * its server starts, and when it starts again after an outage.
 */
const range = { from: 20_000, to: 32_000 };

export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(range.from, range.to);
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
