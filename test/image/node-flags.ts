// The flags of Node with which the image starts Reeve.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads them from the Dockerfile, so that tests and measurements run the program as the image does. */
export function imageNodeFlags(): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const [, words] = /^ENTRYPOINT (\[.*\])$/m.exec(text) ?? [];
  if (words === undefined) throw new Error('the Dockerfile has no ENTRYPOINT');
  return (JSON.parse(words) as readonly string[]).filter((word) => word.startsWith('--'));
}
