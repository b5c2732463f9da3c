// Finds the image of Reeve as an OCI archive: a given one, or the one that `npm run image` builds.
import { builtImage } from '../../image/build-image.ts';
import { toolsProblem } from '../../image/tools.ts';

/** The variable names an archive that holds docker.io/library/reeve:<version>. */
const variable = 'REEVE_IMAGE_ARCHIVE';

/** Returns in one sentence why there is no image; undefined when there is one. */
export function imageProblem(): string | undefined {
  return archive() === '' ? toolsProblem() : undefined;
}

export function reeveArchive(say: (text: string) => void): string {
  const given = archive();
  return given === '' ? builtImage({ say }) : given;
}

function archive(): string {
  return process.env[variable] ?? '';
}
