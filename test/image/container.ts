// Runs the image with runc as Kubernetes runs it: its user, a read-only root, no capabilities, no new privileges.
// https://github.com/opencontainers/runtime-spec/blob/main/config.md
import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadImage } from './archive.ts';
import { toolPath } from './tools.ts';

/** Folders of this machine, by their path in the container. They can only be read. */
export type Mounts = Readonly<Record<string, string>>;

export class Container {
  readonly #image: ReadImage;
  readonly #state: string;
  readonly #env = { ...process.env, PATH: toolPath };

  /** `folder`: an empty folder for the state of runc. */
  constructor(image: ReadImage, folder: string) {
    this.#image = image;
    this.#state = folder;
  }

  /** `env`: variables beside those of the image. */
  run(
    args: readonly string[],
    env: readonly string[] = [],
  ): {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  } {
    return spawnSync('runc', this.#command(args, {}, env), { encoding: 'utf8', env: this.#env });
  }

  start(args: readonly string[], mounts: Mounts): ChildProcessWithoutNullStreams {
    return spawn('runc', this.#command(args, mounts), { env: this.#env });
  }

  /** A program of the image other than Reeve. */
  runProgram(program: readonly string[]): { readonly status: number | null; readonly stderr: string } {
    return spawnSync('runc', this.#arguments(program, {}), { encoding: 'utf8', env: this.#env });
  }

  #command(args: readonly string[], mounts: Mounts, env: readonly string[] = []): readonly string[] {
    return this.#arguments([...this.#image.config.config.Entrypoint, ...args], mounts, env);
  }

  #arguments(program: readonly string[], mounts: Mounts, env: readonly string[] = []): readonly string[] {
    const id = `reeve-${randomBytes(6).toString('hex')}`;
    const bundle = join(this.#state, id);
    mkdirSync(bundle, { recursive: true });
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(this.#specification(program, mounts, env)));
    return ['--root', join(this.#state, 'runc'), 'run', '--bundle', bundle, id];
  }

  #specification(args: readonly string[], mounts: Mounts, added: readonly string[]): object {
    const { User, Env, WorkingDir } = this.#image.config.config;
    const [uid, gid] = User.split(':').map(Number);
    const bound = Object.entries(mounts).map(([destination, source]) => ({
      destination,
      source,
      type: 'bind',
      options: ['bind', 'ro'],
    }));
    return {
      ociVersion: '1.0.2',
      process: {
        user: { uid, gid },
        args,
        env: [...Env, ...added],
        cwd: WorkingDir,
        capabilities: {},
        noNewPrivileges: true,
      },
      root: { path: this.#image.root, readonly: true },
      mounts: [
        { destination: '/proc', type: 'proc', source: 'proc' },
        { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
        ...bound,
      ],
      // The network of this machine: the test asks the probes on 127.0.0.1.
      linux: { namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })) },
    };
  }
}
