// Compares the generated files of the repository with what their definitions say, or writes them (`--write`).
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedCrds } from '../../src/api/crd.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The paths of the files that are missing or not what would be generated. */
export async function staleGeneratedFiles(): Promise<readonly string[]> {
  const stale: string[] = [];
  for (const { path, text } of generatedCrds()) {
    const present = await readFile(join(root, path), 'utf8').catch(() => undefined);
    if (present !== text) stale.push(path);
  }
  return stale;
}

export async function writeGeneratedFiles(): Promise<void> {
  for (const { path, text } of generatedCrds()) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function main(args: readonly string[]): Promise<number> {
  const stale = await staleGeneratedFiles();
  if (stale.length === 0) return 0;
  if (args.includes('--write')) {
    await writeGeneratedFiles();
    process.stdout.write(`${stale.map((path) => `${path}: written`).join('\n')}\n`);
    return 0;
  }
  process.stderr.write(
    `${stale.join(', ')}: not what src/api generates; run \`npm run generate\` and commit it\n`,
  );
  return 1;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
