// Before each file of the quick tests: makes a test fail that starts a process or opens a port.
import child from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const message =
  'a quick test neither starts a process nor opens a port: name its file *.io.test.ts, so that it runs beside the quick ones';

function refuse(): never {
  throw new Error(message);
}

net.Server.prototype.listen = refuse;
Object.assign(child, {
  spawn: refuse,
  spawnSync: refuse,
  exec: refuse,
  execSync: refuse,
  execFile: refuse,
  execFileSync: refuse,
  fork: refuse,
});
syncBuiltinESMExports();
