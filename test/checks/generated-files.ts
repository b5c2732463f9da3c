// Compares the generated files (CRDs, docs/reference) with their definitions in the code, or writes them (`--write`).
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedCrds } from '../../src/api/crd.ts';
import { referencePages } from './reference/reference-pages.ts';

const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** These hold generated files and nothing else: `kubectl apply -f` must not apply a kind that no longer exists. */
const generatedFolders = ['manifests/crds', 'docs/reference'];

export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export function generatedFiles(): readonly GeneratedFile[] {
  return [...generatedCrds(), ...referencePages()];
}

/** The paths of files that are missing, differ from their definition, or are not generated at all. */
export async function staleGeneratedFiles(root = repository): Promise<readonly string[]> {
  return [...(await changedFiles(root)), ...(await extraFiles(root))];
}

async function changedFiles(root: string): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { path, text } of generatedFiles()) {
    const present = await readFile(join(root, path), 'utf8').catch(() => undefined);
    if (present !== text) changed.push(path);
  }
  return changed;
}

async function extraFiles(root: string): Promise<readonly string[]> {
  const generated = new Set(generatedFiles().map(({ path }) => path));
  const present = await Promise.all(
    generatedFolders.map(async (folder) => {
      const names = await readdir(join(root, folder)).catch(() => []);
      return names.map((name) => `${folder}/${name}`);
    }),
  );
  return present.flat().filter((path) => !generated.has(path));
}

async function writeGeneratedFiles(root: string): Promise<void> {
  for (const { path, text } of generatedFiles()) {
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
      `${changed.join(', ')}: differs from its definition in src; run \`npm run generate\` and commit the result\n`,
    );
  }
  // Never removed from here: a person may have put the file there.
  if (extra.length > 0) process.stderr.write(`${extra.join(', ')}: not generated; remove it\n`);
  return extra.length > 0 || (changed.length > 0 && !args.includes('--write')) ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
