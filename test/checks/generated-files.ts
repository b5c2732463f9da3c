// Compares generated files (CRDs, docs/reference, schemas, the table of the bench, what the chart renders) with their source, or writes them (`--write`).
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedCrds, type GeneratedFile } from './crd-files.ts';
import { performancePageFile } from '../bench/results-page.ts';
import { findHelm } from '../cluster/helm/helm.ts';
import { chartFiles } from './chart/chart-files.ts';
import { installedFiles, installedFolders } from './chart/installed-files.ts';
import { referencePages } from './reference/reference-pages.ts';
import { schemaFiles } from './schema-files.ts';

const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** These hold generated files and nothing else: `kubectl apply -f` must not apply a kind that no longer exists. */
const generatedFolders = ['manifests/crds', 'manifests/chart/files/crds', 'docs/reference', 'schemas'];

/** All but the files that Helm renders. */
export function generatedFiles(): readonly GeneratedFile[] {
  return [...generatedCrds(), ...chartFiles(), ...referencePages(), ...schemaFiles(), performancePageFile()];
}

/** The paths of files that are missing, differ from their definition, or are not generated at all. */
export async function staleGeneratedFiles(root = repository): Promise<readonly string[]> {
  const files = generatedFiles();
  return [...(await changedFiles(root, files)), ...(await extraFiles(root, files, generatedFolders))];
}

async function changedFiles(root: string, files: readonly GeneratedFile[]): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { path, text } of files) {
    const present = await readFile(join(root, path), 'utf8').catch(() => undefined);
    if (present !== text) changed.push(path);
  }
  return changed;
}

async function extraFiles(
  root: string,
  files: readonly GeneratedFile[],
  folders: readonly string[],
): Promise<readonly string[]> {
  const generated = new Set(files.map(({ path }) => path));
  const present = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(
        () => [],
      );
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(root, join(entry.parentPath, entry.name)));
    }),
  );
  return present.flat().filter((path) => !generated.has(path));
}

async function writeGeneratedFiles(root: string, files: readonly GeneratedFile[]): Promise<void> {
  for (const { path, text } of files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

/** Returns undefined without Go, which builds Helm. */
async function renderedFiles(): Promise<readonly GeneratedFile[] | undefined> {
  const helm = await findHelm(4, process.env, (text) => process.stderr.write(text));
  if (helm !== undefined) return await installedFiles(helm);
  process.stderr.write('Go is not on the PATH, so manifests/install is not compared with the chart\n');
  return undefined;
}

/** Returns the paths of files that differ from their definition. With `isWriting`, writes these files. */
async function compared(files: readonly GeneratedFile[], isWriting: boolean): Promise<readonly string[]> {
  const changed = await changedFiles(repository, files);
  if (!isWriting) return changed;
  await writeGeneratedFiles(
    repository,
    files.filter(({ path }) => changed.includes(path)),
  );
  for (const path of changed) process.stdout.write(`${path}: written\n`);
  return changed;
}

async function main(args: readonly string[]): Promise<number> {
  const isWriting = args.includes('--write');
  const own = generatedFiles();
  // Helm reads some of these files, so they are written first.
  const changedOwn = await compared(own, isWriting);
  const rendered = await renderedFiles();
  if (rendered === undefined && process.env['REEVE_CLUSTER_TESTS'] === 'required') return 1;
  const changed = [...changedOwn, ...(await compared(rendered ?? [], isWriting))];
  const renderedFolders = installedFolders.map((folder) => `manifests/${folder}`);
  const folders = [...generatedFolders, ...(rendered === undefined ? [] : renderedFolders)];
  const extra = await extraFiles(repository, [...own, ...(rendered ?? [])], folders);
  if (!isWriting && changed.length > 0) {
    process.stderr.write(
      `${changed.join(', ')}: differs from its source; run \`npm run generate\` and commit the result\n`,
    );
  }
  // Never removed from here: a person may have put the file there.
  if (extra.length > 0) process.stderr.write(`${extra.join(', ')}: not generated; remove it\n`);
  return extra.length > 0 || (changed.length > 0 && !isWriting) ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
