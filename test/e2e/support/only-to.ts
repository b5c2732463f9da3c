// Loaded into a process under test before anything else: reports and refuses every connection except to one address.
// REEVE_TEST_ONLY_TO holds that address: `127.0.0.1:6443`.
import dns from 'node:dns';
import { Socket } from 'node:net';

const only = process.env['REEVE_TEST_ONLY_TO'];
// oxlint-disable-next-line typescript/unbound-method -- the replacement calls it with its own socket
const connect = Socket.prototype.connect;

function told(what: string): never {
  process.stderr.write(`OUTBOUND ${what}\n`);
  throw new Error(`not allowed: ${what}`);
}

/** Reads the arguments as net.connect passes them: `[[options, callback]]`, or the arguments themselves. */
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

/** A looked-up name can carry data out of the process too. A numeric address needs no lookup. */
const { lookup } = dns;
dns.lookup = function restricted(this: unknown, ...args: readonly unknown[]) {
  const [name] = args;
  // A server that listens looks up its own address with the same function.
  if (typeof name !== 'string' || !/^[\d.:]+$/.test(name)) told(`name ${String(name)}`);
  return Reflect.apply(lookup, this, args) as void;
} as typeof lookup;
process.stderr.write('OUTBOUND is watched\n');
