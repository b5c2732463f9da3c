// Passes every connection of a listener on to another place, both ways, until either side ends it.
import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';

export async function relay(from: number | string, to: NetConnectOpts): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    join(socket, connect({ ...to, allowHalfOpen: true }));
  });
  if (typeof from === 'string') server.listen(from);
  else server.listen(from, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function join(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
  one.on('close', () => other.destroy());
  other.on('close', () => one.destroy());
}
