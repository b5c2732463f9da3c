// Builds the programs of peers from their Go modules, by the version that go.mod in the folder of each pins.
import { join } from 'node:path';
import { builtBy, findGo, runGo, type Environment } from '../../cluster/go-program.ts';

/** The folder of its go.mod, the module, and its programs by import path. */
const peers = {
  gatekeeper: {
    module: 'github.com/open-policy-agent/gatekeeper/v3',
    programs: { gatekeeper: '' },
  },
  kyverno: {
    module: 'github.com/kyverno/kyverno',
    programs: { kyvernoadmission: '/cmd/kyverno', kyvernobackground: '/cmd/background-controller' },
  },
} as const;

export type PeerName = keyof typeof peers;

export interface PeerPrograms {
  readonly version: string;
  /** The folder of the module, with its manifests. */
  readonly folder: string;
  readonly paths: Readonly<Record<string, string>>;
}

/** The first build downloads and compiles for minutes; then the cache of the user has the programs. */
export async function peerPrograms(
  peer: PeerName,
  print: (line: string) => void,
  env: Environment = process.env,
): Promise<PeerPrograms> {
  const go = await findGo(env);
  if (go === undefined) throw new Error('Go is not on the PATH, which builds the peers');
  const own = join(import.meta.dirname, peer);
  const { module, programs } = peers[peer];
  await runGo(go, ['mod', 'download', module], env, own);
  const found = await runGo(go, ['list', '-m', '-f', '{{.Version}} {{.Dir}}', module], env, own);
  const [version = '', folder = ''] = found.trim().split(' ');
  const paths: Record<string, string> = {};
  for (const [name, path] of Object.entries(programs)) {
    const program = { name, module: own, folder: `${module}${path}`, files: [], variables: () => [] };
    paths[name] = await builtBy(go, env, program, () => print(`building ${name} ${version}`));
  }
  return { version, folder, paths };
}
