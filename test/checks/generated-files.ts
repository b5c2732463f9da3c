// Compares the generated files of the repository with what their definitions say, or writes them (`--write`).
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedCrds } from '../../src/api/crd.ts';

const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** Holds generated files and nothing else: whoever applies the folder must not apply a kind that is no more. */
const generatedFolder = 'manifests/crds';

/** The paths of the files that are missing, not what would be generated, or not generated at all. */
export async function staleGeneratedFiles(root = repository): Promise<readonly string[]> {
  return [...(await changedFiles(root)), ...(await extraFiles(root))];
}

async function changedFiles(root: string): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { path, text } of generatedCrds()) {
    const present = await readFile(join(root, path), 'utf8').catch(() => undefined);
    if (present !== text) changed.push(path);
  }
  return changed;
}

async function extraFiles(root: string): Promise<readonly string[]> {
  const generated = new Set(generatedCrds().map(({ path }) => path));
  const present = await readdir(join(root, generatedFolder)).catch(() => []);
  return present.map((name) => `${generatedFolder}/${name}`).filter((path) => !generated.has(path));
}

async function writeGeneratedFiles(root: string): Promise<void> {
  for (const { path, text } of generatedCrds()) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function main(args: readonly string[]): Promise<number> {
  const changed = await changedFiles(repository);
  const extra = await extraFiles(repository);
  if (args.includes('--write') && changed.length > 0) {
    await writeGeneratedFiles(repository);
    process.stdout.write(`${changed.map((path) => `${path}: written`).join('\n')}\n`);
  } else if (changed.length > 0) {
    process.stderr.write(
      `${changed.join(', ')}: not what src/api generates; run \`npm run generate\` and commit it\n`,
    );
  }
  // Never removed from here: it may be somebody's work.
  if (extra.length > 0) process.stderr.write(`${extra.join(', ')}: not generated; remove it\n`);
  return extra.length > 0 || (changed.length > 0 && !args.includes('--write')) ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
