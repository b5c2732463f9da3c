// Runs Lua as Argo CD does. Go builds the program from this folder.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { builtBy, findGo, type Environment, type Program } from '../go-program.ts';

const program: Program = {
  name: 'lua',
  module: import.meta.dirname,
  folder: '.',
  files: ['main.go'],
  variables: () => [],
};

export interface Health {
  readonly status: string;
  readonly message: string;
}

/** Returns the health of each object. */
export type HealthCheck = (script: string, objects: readonly object[]) => Promise<readonly Health[]>;

/** Returns undefined without Go. Rejects when the build fails. */
export async function findLua(env: Environment = process.env): Promise<HealthCheck | undefined> {
  const go = await findGo(env);
  if (go === undefined) return undefined;
  const path = await builtBy(go, env, program);
  return async (script, objects) => {
    const child = spawn(path, { stdio: ['pipe', 'pipe', 'pipe'] });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    child.stdin.on('error', () => undefined).end(JSON.stringify({ script, objects }));
    const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    if (code !== 0) throw new Error(`the script failed: ${stderr}`);
    return JSON.parse(stdout) as readonly Health[];
  };
}
