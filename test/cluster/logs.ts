// Returns the last log lines of the components, for the message of a failed start.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const maxLines = 12;

export async function lastLines(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log') && name !== 'audit.log');
  const parts = await Promise.all(
    names.sort().map(async (name) => {
      const lines = (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n');
      return `--- the last lines of ${name}\n${lines.slice(-maxLines).join('\n')}`;
    }),
  );
  return parts.join('\n');
}
