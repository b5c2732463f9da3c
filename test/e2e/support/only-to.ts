// Loaded into a process under test before anything else: lets it open connections to one address, and tells of all others.
// The address is in REEVE_TEST_ONLY_TO: `127.0.0.1:6443`.
import dns from 'node:dns';
import { Socket } from 'node:net';

const only = process.env['REEVE_TEST_ONLY_TO'];
// oxlint-disable-next-line typescript/unbound-method -- it is called with the socket that it belongs to
const connect = Socket.prototype.connect;

function told(what: string): never {
  process.stderr.write(`OUTBOUND ${what}\n`);
  throw new Error(`not allowed: ${what}`);
}

/** As net.connect hands it on: `[[options, callback]]`, or the arguments as they are. */
function targetOf(args: readonly unknown[]): string {
  const first = Array.isArray(args[0]) ? (args[0] as readonly unknown[])[0] : args[0];
  const { host, port, path } = (typeof first === 'object' && first !== null ? first : { port: first }) as {
    readonly host?: string;
    readonly port?: number | string;
    readonly path?: string;
  };
  return path ?? `${host ?? 'localhost'}:${port}`;
}

Socket.prototype.connect = function restricted(this: Socket, ...args: readonly unknown[]) {
  const target = targetOf(args);
  if (target !== only) told(target);
  return connect.apply(this, args as Parameters<typeof connect>);
};

/** Names are data on their way out, too: no address that is a number needs any. */
const { lookup } = dns;
dns.lookup = function restricted(this: unknown, ...args: readonly unknown[]) {
  const [name] = args;
  // The addresses to listen on are asked for in the same way.
  if (typeof name !== 'string' || !/^[\d.:]+$/.test(name)) told(`name ${String(name)}`);
  return Reflect.apply(lookup, this, args) as void;
} as typeof lookup;
process.stderr.write('OUTBOUND is watched\n');
