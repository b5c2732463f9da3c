// Takes the CRD of Kyverno's Policy from its Go module, whose version go.mod beside this file pins, and keeps it in the cache of the user.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseYaml } from '../../../src/base/yaml.ts';
import { isCached, removeOldBuilds, temporaryName } from '../build-cache.ts';
import { cacheFolder, cacheKey, findGo, runGo, type Environment } from '../go-program.ts';

const module = 'github.com/kyverno/kyverno';
/** https://github.com/kyverno/kyverno/tree/main/config/crds: the CRDs that its own releases are made from. */
const policies = 'config/crds/kyverno/kyverno.io_policies.yaml';

/** Returns the path of the CRD as JSON, or undefined without Go. Rejects when the module cannot be had. */
export async function findKyvernoKinds(
  env: Environment = process.env,
  onProgress: (text: string) => void = () => undefined,
): Promise<string | undefined> {
  const go = await findGo(env);
  if (go === undefined) return undefined;
  const pins = await Promise.all(
    ['go.mod', 'go.sum'].map(
      async (name) => [name, await readFile(join(import.meta.dirname, name))] as const,
    ),
  );
  const path = join(cacheFolder(env), `kyverno-${cacheKey(new Map(pins), policies)}`);
  if (isCached(path)) return path;
  onProgress("downloading Kyverno's kinds; the first time this takes some seconds\n");
  await keep(path, await downloadedKind(go, env));
  removeOldBuilds(cacheFolder(env));
  return path;
}

/** JSON, because a test that reads 1.4 MB of YAML would wait for seconds. */
async function downloadedKind(go: string, env: Environment): Promise<string> {
  // Go compares the module with the checksums in go.sum. https://go.dev/ref/mod#go-mod-download
  await runGo(go, ['mod', 'download', module], env, import.meta.dirname);
  const folder = await runGo(go, ['list', '-m', '-f', '{{.Dir}}', module], env, import.meta.dirname);
  const [crd] = parseYaml(await readFile(join(folder.trim(), policies), 'utf8')).documents;
  if (crd?.kind !== 'data') throw new Error(`${policies} of ${module} is not one YAML document`);
  return JSON.stringify(crd.value);
}

async function keep(path: string, text: string): Promise<void> {
  const temporary = temporaryName(path);
  await mkdir(join(path, '..'), { recursive: true });
  try {
    await writeFile(temporary, text);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}
