// `npm run image`: builds the image of Reeve, and prints the path of an OCI archive.
import { builtImage } from './build-image.ts';

try {
  process.stdout.write(`${builtImage({ say: (text) => process.stderr.write(`${text}\n`) })}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
