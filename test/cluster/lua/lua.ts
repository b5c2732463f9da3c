// Runs Lua as Argo CD does. Go builds the program from this folder.
import { runProgram } from '../../support/run-program.ts';
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
    const { code, stdout, stderr } = await runProgram(path, [], {
      input: JSON.stringify({ script, objects }),
    });
    if (code !== 0) throw new Error(`the script failed: ${stderr}`);
    return JSON.parse(stdout) as readonly Health[];
  };
}
