// The one process of a rig outside of its namespaces: starts them, relays the API server's port, and ends all with a signal.
//
// keeper.ts FOLDER [--with-stdin]: with the flag, the end of stdin ends the rig, too.
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { identify } from '../process-identity.ts';
import { readJsonFile, writeJsonFile } from '../json-file.ts';
import { cgroupPlaces, createCgroups, moveProcess, removeCgroups } from './cgroups.ts';
import { firstProcess, startIsolated } from './namespaces.ts';
import { relay } from './relay.ts';
import { rigLayout, type RigSettings } from './rig-files.ts';

const [, , folder = '', flag] = process.argv;

/** Resolves when the rig shall end. */
function asked(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve());
    if (flag !== '--with-stdin') return;
    process.stdin.on('end', resolve).on('error', () => resolve());
    process.stdin.resume();
  });
}

function environment({ parts, pause, path }: RigSettings, cgroupVersion: number): NodeJS.ProcessEnv {
  return {
    PATH: path,
    HOME: folder,
    RIG_HOME: folder,
    RIG_CGROUPS: String(cgroupVersion),
    RIG_NODE: process.execPath,
    RIG_PARTS: parts,
    RIG_PAUSE: pause,
    // CPU is scarcer than memory on test machines. https://pkg.go.dev/runtime#hdr-Environment_Variables
    GOGC: '200',
  };
}

async function keep(): Promise<void> {
  const ending = asked();
  const layout = rigLayout(folder);
  const settings = await readJsonFile<RigSettings>(layout.settings);
  const keeper = identify(process.pid);
  if (settings === undefined || keeper === undefined) throw new Error(`${folder} holds no rig`);
  await relay(settings.port, { path: layout.socket });
  const mine = (file: string): string => readFileSync(`/proc/self/${file}`, 'utf8');
  const places = cgroupPlaces(mine('cgroup'), mine('mountinfo'));
  const name = `reeve-rig-${process.pid}`;
  const cgroups = createCgroups(places, name);
  // With version 2, a cgroup that passes controllers on must be empty, so the parent of PID 1 has one of its own.
  const outside = places.version === 2 ? createCgroups(places, `${name}-outside`) : [];
  await writeJsonFile(layout.state, { keeper, cgroups: [...cgroups, ...outside] });
  const log = openSync(layout.insideLog, 'a', 0o600);
  const env = environment(settings, places.version);
  const program = [join(import.meta.dirname, 'init.sh')];
  const rig = startIsolated({ program, cwd: folder, env, log, cgroups });
  closeSync(log);
  const ended = once(rig, 'exit');
  const first = await firstProcess(rig);
  if (rig.pid !== undefined) moveProcess(rig.pid, outside);
  const wasAsked = await Promise.race([ending.then(() => true), ended.then(() => false)]);
  // The kernel ends a PID 1 only after all other processes of its namespace.
  if (rig.exitCode === null && first !== undefined) process.kill(first, 'SIGKILL');
  else rig.kill('SIGKILL');
  await ended;
  await removeCgroups([...cgroups, ...outside]);
  // The folder with the logs stays for the process that waits for the rig.
  if (!wasAsked) throw new Error('the namespaces of the rig have ended by themselves');
}

try {
  await keep();
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
