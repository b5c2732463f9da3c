// Finds the image of Reeve as an OCI archive.

/** The variable names an archive that holds docker.io/library/reeve:<version>. */
const variable = 'REEVE_IMAGE_ARCHIVE';

/** Returns in one sentence why there is no image; undefined when there is one. */
export function imageProblem(): string | undefined {
  return archive() === '' ? `${variable} names no archive of the image` : undefined;
}

// oxlint-disable-next-line typescript/require-await
export async function reeveArchive(_say: (text: string) => void): Promise<string> {
  const problem = imageProblem();
  if (problem !== undefined) throw new Error(problem);
  return archive();
}

function archive(): string {
  return process.env[variable] ?? '';
}
